<?php
namespace Shop;

use Shop\Money\Purse as Wallet;

class App extends Base implements Closing {
    public function __construct(private Wallet $purse) {}
    public function run() { $this->purse->pay(1); $this->begin(); parent::begin(); Wallet::open()->pay(2); }
}
