// What makes the D of an object hard to name: templates, nested functions, lambdas.
module program;

import core.stdc.stdio : printf;

interface Area
{
    double area();
}

class Square : Area
{
    private double side;

    this(double side)
    {
        this.side = side;
    }

    double area()
    {
        return side * side;
    }
}

T largest(T)(T[] values)
{
    T best = values[0];
    foreach (value; values)
        if (value > best)
            best = value;
    return best;
}

int nested(int value)
{
    int calls = 0;
    int inner(int step)
    {
        calls += step;
        return calls * value;
    }
    return inner(1) + inner(value);
}

int apply(int delegate(int) f, int count)
{
    int sum = 0;
    foreach (index; 0 .. count)
        sum += f(index);
    return sum;
}

extern (C) int exported(int value)
{
    return value ^ 3;
}

struct Pair(A, B)
{
    A first;
    B second;

    auto sum() const
    {
        return first + second;
    }
}

void main(string[] arguments)
{
    const count = cast(int) arguments.length;
    Area area = new Square(count);
    auto pair = Pair!(int, double)(count, 2.5);
    const sum = apply((index) => index * count, 5) + nested(count) + exported(count);
    printf("%f %f %d %d\n", area.area(), pair.sum(), sum, largest([1, 5, count]));
}
