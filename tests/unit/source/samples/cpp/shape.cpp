#include "shape.h"
#include <vector>

#define SHAPE_MAX 100
#define SHAPE_CHECK(x) do { if (!(x)) fail(#x); } while (0)

namespace geo::detail {

SHAPE_NAMESPACE_BEGIN

namespace {
constexpr int kLimit = 3;
std::vector<int> cache{1, 2}, *shared = nullptr;
int hidden(int value) { int local = value; return local; }
}  // namespace

// Something with an area.
template <typename T, int N = 2>
  requires Number<T>
class SHAPE_EXPORT Shape final : public Base<T>, private Named {
 public:
  using value_type = T;
  typedef std::vector<T> list;
  enum class Kind : char { kRound, kFlat };
  struct Point { T x, y; };
  class Forward;

  Shape() = default;
  explicit Shape(T size) noexcept : size_(size), names_{} {}
  Shape(const Shape&) = delete;
  template <class U> Shape(U first, U second);
  virtual ~Shape();

  /// Size of the outline.
  virtual T area(int precision = 2) const = 0;
  [[nodiscard]] const T& size() const& { return size_; }
  T* begin();
  static Shape* make(T size);
  auto scaled(double by) -> Shape;
  Shape& operator=(const Shape&) = default;
  bool operator==(const Shape& other) const { return size_ == other.size_; }
  T& operator[](int index);
  explicit operator bool() const { return size_ > 0; }
  operator std::string() const;

  /**
   * Converts a value.
   */
  template <typename U>
  U convert(U value) const {
    auto twice = [](U v) { return v * 2; };
    return twice(value);
  }

  friend bool operator<(const Shape& a, const Shape& b) { return a.size_ < b.size_; }
  friend class Drawer;

  static constexpr int kSides = 4;

 private:
  T size_ = 0, *next_;
  std::vector<std::string> names_;
  void (*callback_)(int);
  union { int word_; char bytes_[4]; };
  mutable std::mutex mutex_;
};

template <>
struct Shape<void, 0> { void reset(); };

SHAPE_NAMESPACE_END
}  // namespace geo::detail

namespace geo {

template <typename T, int N>
Shape<T, N>::Shape(T size) : size_(size) {}

template <typename T>
void Shape<T>::reset(std::vector<T> items) {
  items.clear();
}

Circle::Circle() : Shape(1) {}
Circle::~Circle() = default;
int Circle::count_ = 0;
bool Circle::Inner::operator<(const Inner& other) const { return false; }
Circle::operator bool() const { return true; }
const std::string& Circle::name() const { return name_; }
std::unique_ptr<Circle> make_circle(double radius);
std::ostream& operator<<(std::ostream& out, const Circle& circle) { return out; }

template <typename T>
concept Drawable = requires(T value) { value.draw(); };

template <typename T> using Ptr = std::shared_ptr<T>;
template <typename T> T twice(T value);
template <> int twice<int>(int value) { return 2 * value; }
template <typename T> constexpr T kPi = T(3.14);

struct Circle::Inner { int depth; };
enum Color { kRed, kBlue };

SHAPE_INLINE auto sum(auto... values) noexcept { return (values + ...); }

extern "C" {
void shape_init(int flags);
}
extern "C" int shape_done(void) { return 0; }

inline long double operator""_deg(long double value) { return value; }

}  // namespace geo

TEST(ShapeTest, HasArea) {
  int sides = 4;
}

TEST_F(ShapeFixture, Scales) {}

TEST_CASE("shapes can be drawn", "[shape]") {
  Circle circle(2.0);
}

UNIT_TEST(circle_is_round) { FOREACH(side, sides) { int seen = 1; } }

int main(int argc, char** argv) try {
  Circle circle(1.0);
  return 0;
} catch (...) { return 1; }

struct Limits {
  static constexpr int(max)() { return 9; }
  friend class Circle;
};
