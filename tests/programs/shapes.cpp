// C++ with namespaces, methods, templates, lambdas, exceptions and inlined functions.
#define LTTNG_UST_TRACEPOINT_CREATE_PROBES
#define LTTNG_UST_TRACEPOINT_DEFINE
#include "shapes_tp.h"

#include <cstdio>
#include <stdexcept>
#include <vector>

#define NOINLINE __attribute__((noinline))
#define ALWAYS_INLINE inline __attribute__((always_inline))

namespace geometry {

ALWAYS_INLINE void note(const char *place, double value)
{
	lttng_ust_tracepoint(shapes, at, place, value);
}

class Shape {
public:
	virtual ~Shape() { note("Shape::~Shape", 0); }
	virtual double area() const = 0;
};

class Square : public Shape {
public:
	explicit Square(double side) : side_(side) {}
	NOINLINE double area() const override
	{
		lttng_ust_tracepoint(shapes, at, "Square::area", side_);
		return side_ * side_;
	}

private:
	double side_;
};

class Circle : public Shape {
public:
	explicit Circle(double radius) : radius_(radius) {}
	NOINLINE double area() const override
	{
		note("Circle::area", radius_);
		return 3.14159 * squared();
	}

private:
	ALWAYS_INLINE double squared() const
	{
		note("Circle::squared", radius_);
		return radius_ * radius_;
	}
	double radius_;
};

template <typename Number>
NOINLINE Number larger(Number left, Number right)
{
	lttng_ust_tracepoint(shapes, at, "larger", static_cast<double>(left));
	return left < right ? right : left;
}

namespace {
NOINLINE double checked(double value)
{
	if (value < 0) {
		note("checked: negative", value);
		throw std::invalid_argument("negative");
	}
	return value;
}
} // namespace

} // namespace geometry

int main(int argc, char **)
{
	using namespace geometry;
	std::vector<Shape *> shapes{new Square(argc + 1.0), new Circle(argc + 0.5)};
	double total = 0;

	auto add = [&total](double area) NOINLINE {
		lttng_ust_tracepoint(shapes, at, "lambda", area);
		total += area;
	};
	for (Shape *shape : shapes)
		add(shape->area());
	total = larger(total, 1.0) + larger<int>(argc, 4);
	try {
		checked(-total);
	} catch (const std::invalid_argument &error) {
		lttng_ust_tracepoint(shapes, at, error.what(), total);
	}
	for (Shape *shape : shapes)
		delete shape;
	return 0;
}
