// What makes the C++ of an object hard to name: templates, thunks, lambdas, exceptions, clones.
#include <algorithm>
#include <cstdio>
#include <functional>
#include <map>
#include <memory>
#include <stdexcept>
#include <string>
#include <vector>

#define NOINLINE __attribute__((noinline))

namespace app {

struct Failure : std::runtime_error {
    explicit Failure(const std::string &what, int code = 0) : runtime_error(what), code(code) {}
    int code;
};

class Shape {
public:
    explicit Shape(std::string name) : name_(std::move(name)) {}
    virtual ~Shape() = default;
    virtual double area() const = 0;
    const std::string &name() const { return name_; }

private:
    std::string name_;
};

class Counted {
public:
    Counted() { ++count; }
    virtual ~Counted() { --count; }
    virtual int id() const { return count; }
    static int count;
};
int Counted::count;

// The second base gives thunks.
class Square : public Shape, public virtual Counted {
public:
    explicit Square(double side) : Shape("square"), side_(side) {}
    ~Square() override { side_ = 0; }
    NOINLINE double area() const override
    {
        if (side_ < 0)
            throw Failure("negative side", 3);
        return side_ * side_;
    }
    NOINLINE int id() const override { return Counted::id() + 100; }

private:
    double side_;
};

template <typename T, unsigned N>
class Ring {
public:
    void push(T value)
    {
        slots_[next_++ % N] = std::move(value);
        if (next_ > limit)
            throw std::out_of_range("ring " + std::to_string(next_));
    }
    template <typename F> auto each(F &&f) const
    {
        for (const auto &slot : slots_)
            f(slot);
        return next_;
    }
    NOINLINE std::size_t size() const { return std::min<std::size_t>(next_, N); }
    static constexpr unsigned limit = 1000;

private:
    T slots_[N] = {};
    unsigned next_ = 0;
};

template <typename... Parts> NOINLINE int total(Parts... parts)
{
    return (0 + ... + static_cast<int>(parts));
}

struct Length {
    double metres;
    friend Length operator+(Length one, Length other) { return {one.metres + other.metres}; }
    explicit operator int() const { return static_cast<int>(metres); }
    bool operator<(const Length &other) const { return metres < other.metres; }
};
NOINLINE Length operator""_km(long double value) { return {static_cast<double>(value) * 1000}; }

} // namespace app

namespace {

struct Hidden {
    NOINLINE static int twice(int value) { return value * 2; }
    int operator()(int value) const { return twice(value) + 1; }
};

NOINLINE int parse(const std::string &text)
{
    try {
        return std::stoi(text);
    } catch (const std::invalid_argument &problem) {
        std::fprintf(stderr, "%s\n", problem.what());
        return -1;
    } catch (...) {
        throw app::Failure("cannot parse " + text);
    }
}

} // namespace

struct Registered {
    explicit Registered(const char *name) { names().push_back(name); }
    ~Registered() { names().clear(); }
    static std::vector<std::string> &names()
    {
        static std::vector<std::string> all;
        return all;
    }
};
static Registered first("first");
static Registered second("second");

NOINLINE static int visit(const std::function<int(int)> &f, int value)
{
    return f(value) + Hidden()(value);
}

NOINLINE int inner_lambdas(int value)
{
    auto outer = [value](int factor) {
        auto inner = [=](int step) NOINLINE { return step * factor + value; };
        return inner(1) + inner(2);
    };
    struct Local {
        NOINLINE static int method(int at) { return at - 5; }
    };
    return visit(outer, value) + Local::method(value);
}

int main(int argc, char **argv)
{
    std::map<std::string, std::unique_ptr<app::Shape>> shapes;
    try {
        shapes["one"] = std::make_unique<app::Square>(argc);
        shapes["two"] = std::make_unique<app::Square>(argc - 1.5);
        app::Ring<std::string, 4> ring;
        for (const auto &[name, shape] : shapes)
            ring.push(name + shape->name() + std::to_string(shape->area()));
        std::size_t length = 0;
        ring.each([&](const std::string &slot) { length += slot.size(); });
        app::Ring<int, 3> numbers;
        std::vector<int> sorted;
        for (int index = 0; index < argc + 5; index++) {
            numbers.push(index ^ 3);
            sorted.push_back(index ^ 3);
        }
        std::sort(sorted.begin(), sorted.end(), [](int a, int b) { return a > b; });
        using namespace app;
        const int sum = app::total(argc, 2.5, 'c') + static_cast<int>(1.5_km + Length{2});
        std::printf("%zu %zu %d %d\n", length, numbers.size(), sum, inner_lambdas(sorted[0]));
        return parse(argv[argc - 1]) + static_cast<int>(ring.size());
    } catch (const app::Failure &failure) {
        return failure.code;
    }
}
