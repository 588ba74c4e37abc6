"""Calls of Scala: methods without arguments, and what package objects see."""

from __future__ import annotations

from pathlib import Path

from small_projects import callers

BILL = """package shop

class Bill:
  val size = 3
  def total: Int = 1
  def twice: Int = total
  def shown(other: Bill): String =
    println(other.size)
    other.total
  def all(bills: List[Bill]): Int = bills.map(each).sum + twice
  def each(bill: Bill): Int = bill.total + List(bill.total).head
  def args(n: Int): Int = n
  def last: Int = this.args(4) + this.twice
"""


def test_a_method_without_arguments_is_called_by_its_name(tmp_path: Path) -> None:
    files = {"Bill.scala": BILL}
    assert callers(tmp_path, "Bill.total", files) == {("Bill.scala", line) for line in (6, 9, 11)}
    assert callers(tmp_path, "Bill.twice", files) == {("Bill.scala", line) for line in (10, 13)}
    assert callers(tmp_path, "Bill.args", files) == {("Bill.scala", 13)}
    assert callers(tmp_path, "Bill.each", files) == {("Bill.scala", 10)}


def test_a_method_without_arguments_is_called_in_another_file(tmp_path: Path) -> None:
    files = {
        "Bill.scala": BILL,
        "Till.scala": "package shop\n\nclass Till:\n  def run(bill: Bill): Int = bill.total + bill.args(1)\n",
    }
    assert ("Till.scala", 4) in callers(tmp_path, "Bill.total", files)
    assert ("Till.scala", 4) in callers(tmp_path, "Bill.args", files)


def test_a_local_name_is_no_method(tmp_path: Path) -> None:
    text = "package shop\n\nclass Till:\n  def rate: Int = 2\n  def run(rate: Int): Int = rate + 1\n"
    assert callers(tmp_path, "Till.rate", {"Till.scala": text}) == set()


def test_a_package_object_sees_its_package(tmp_path: Path) -> None:
    files = {
        "shop/package.scala": "package shop\n\npackage object docs {\n  def run(): Int = new Mapper(1).go()\n}\n",
        "shop/docs/Mapper.scala": "package shop.docs\n\nclass Mapper(x: Int) {\n  def go(): Int = x\n}\n",
    }
    assert callers(tmp_path, "Mapper", files) == {("shop/package.scala", 4)}
    assert callers(tmp_path, "Mapper.go", files) == {("shop/package.scala", 4)}
