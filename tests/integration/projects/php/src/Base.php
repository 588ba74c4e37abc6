<?php
namespace Shop;

abstract class Base { protected function begin() {} }
interface Closing {}
