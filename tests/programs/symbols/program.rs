//! What makes the Rust of an object hard to name: generics, closures, traits.
use std::collections::BTreeMap;
use std::fmt;

mod shapes {
    pub trait Area {
        fn area(&self) -> f64;
        fn twice(&self) -> f64 {
            self.area() * 2.0
        }
    }

    pub struct Square(pub f64);
    pub struct Circle {
        pub radius: f64,
    }

    impl Area for Square {
        #[inline(never)]
        fn area(&self) -> f64 {
            self.0 * self.0
        }
    }

    impl Area for Circle {
        fn area(&self) -> f64 {
            check(self.radius);
            3.14 * self.radius * self.radius
        }
    }

    #[inline]
    fn check(radius: f64) {
        assert!(radius >= 0.0, "negative radius {radius}");
    }
}

use shapes::{Area, Circle, Square};

struct Wrapper<T, const N: usize>([T; N]);

impl<T: fmt::Display, const N: usize> fmt::Display for Wrapper<T, N> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        for item in &self.0 {
            write!(f, "<{item}>")?;
        }
        Ok(())
    }
}

#[inline(never)]
fn largest<T: PartialOrd + Copy>(values: &[T]) -> Option<T> {
    let mut values = values.iter().copied();
    let first = values.next()?;
    Some(values.fold(first, |best, value| if value > best { value } else { best }))
}

#[inline(never)]
fn apply(f: &dyn Fn(usize) -> usize, count: usize) -> usize {
    (0..count).map(|index| f(index)).filter(|value| value % 3 != 0).sum()
}

#[no_mangle]
pub extern "C" fn exported(value: u32) -> u32 {
    value.rotate_left(3)
}

fn main() {
    let count = std::env::args().count();
    let shapes: Vec<Box<dyn Area>> =
        vec![Box::new(Square(count as f64)), Box::new(Circle { radius: 2.0 })];
    let mut totals = BTreeMap::new();
    for (index, shape) in shapes.iter().enumerate() {
        totals.insert(format!("shape {index}"), shape.area() + shape.twice());
    }
    let factor = count * 3;
    let sum = apply(&|index| index * factor + totals.len(), count + 20);
    println!("{} {sum} {:?}", Wrapper([1, 2, 3]), largest(&[1.5, 2.5, count as f64]));
    println!("{:?} {}", largest(&[3u8, 1]), exported(sum as u32));
}
