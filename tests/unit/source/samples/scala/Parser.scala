package org.example
package parser

import scala.annotation.tailrec
import cats.implicits._

package object syntax {
  type Result[A] = Either[ParseError, A]
  val Limit = 100
}

/** What went wrong,
  * and where.
  */
sealed abstract class ParseError(val offset: Int, message: String) extends Exception(message) with Product {
  def this(message: String) = this(0, message)
  def isFatal: Boolean
}

object ParseError {
  case object EndOfInput extends ParseError("end of input") { def isFatal = true }
  final case class Unexpected(found: Char, expected: List[String] = Nil) extends ParseError("unexpected") {
    override lazy val isFatal: Boolean = false
  }
}

// Something that reads an `A`.
trait Parser[+A] { self =>
  protected type In = String
  type Out <: A
  val name: String
  var depth, width: Int = 0
  private[parser] val (first, second) = ("a", "b")

  def parse(input: In): Result[A]

  /** Runs both. */
  @inline final def ~[B](other: => Parser[B]): Parser[(A, B)] = new Parser[(A, B)] {
    val name = "both"
    def parse(input: In) = {
      val left = self.parse(input)
      def rest = input.drop(1)
      left.flatMap(a => other.parse(rest).map(a -> _))
    }
  }

  @tailrec
  @deprecated("use many", "1.2")
  private def loop[B](input: In)(acc: List[B])(implicit ev: A <:< B): List[B] =
    if (input.isEmpty) acc else loop(input.tail)(acc)

  def `type`: String = name
  def unary_! : Parser[Unit] = ???
}

implicit class ParserOps(private val text: String) extends AnyVal {
  def parser: Parser[String] = literal(text)
}

class Cursor[F[_]: Monad](var position: Int)(implicit F: Functor[F])
    extends AnyRef
    with Serializable {
  import Cursor._
  implicit val ordering: Ordering[Cursor[F]] = Ordering.by(_.position)
  def advance(n: Int = 1): Unit = position += n; def reset(): Unit = position = 0
}

enum Token(val text: String) extends java.lang.Enum[Token]:
  case Open extends Token("(")
  case Close, Comma
  def width = text.length

trait Show[A]:
  def show(a: A): String
  extension (a: A) def shown: String = show(a)

given tokenShow: Show[Token] with
  def show(token: Token): String = token.text

given [A](using Show[A]): Show[List[A]] with
  def show(list: List[A]): String = list.map(_.shown).mkString

extension (text: String)
  def quoted: String = s"'$text'"
  def lines2: List[String] =
    text.split("\n").toList

opaque type Offset = Int
type Pair[A] = (A, A)
val Empty: Pair[Int] = (0, 0)
private var calls = 0

inline def literal(text: String): Parser[String] = ???

@main def run(args: String*): Unit =
  val local = args.head
  println(local)
