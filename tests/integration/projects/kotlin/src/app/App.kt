package app

import money.Purse
import money.fee as cost

open class Base { fun start() {} }

class App(private val purse: Purse) : Base() {
    fun run() {
        purse.pay(1)
        start()
        cost(2)
        val other = Purse(3)
        other.pay(4)
    }
}
