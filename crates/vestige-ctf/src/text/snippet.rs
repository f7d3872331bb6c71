//! Short constant pieces of text.

/// Bytes that are copied at once.
const NEAR: usize = 32;

/// A piece of text that is appended again and again.
///
/// Copying a few bytes of a length that is not known beforehand is a call, which costs more
/// than the bytes. So the first 32 are always all copied, and what is too much is cut off.
#[derive(Debug, Clone, Default)]
pub struct Snippet {
    near: [u8; NEAR],
    near_length: usize,
    far: Box<[u8]>,
}

impl Snippet {
    /// A piece of text.
    #[must_use]
    pub fn new(text: &[u8]) -> Self {
        let (start, far) = text.split_at(text.len().min(NEAR));
        let mut near = [0; NEAR];
        near.iter_mut().zip(start).for_each(|(to, from)| *to = *from);
        Self { near, near_length: start.len(), far: far.into() }
    }

    /// Whether there is any text.
    #[must_use]
    pub fn is_empty(&self) -> bool {
        self.near_length == 0
    }

    /// Appends it.
    #[inline(always)]
    pub fn push(&self, out: &mut Vec<u8>) {
        push_start(out, &self.near, self.near_length);
        if !self.far.is_empty() {
            out.extend_from_slice(&self.far);
        }
    }
}

/// Appends the first `length` bytes of an array.
#[inline(always)]
pub fn push_start<const SIZE: usize>(out: &mut Vec<u8>, bytes: &[u8; SIZE], length: usize) {
    let end = out.len() + length;
    out.extend_from_slice(bytes);
    out.truncate(end);
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn pieces_of_any_length_are_appended_whole() {
        for length in 0..100u8 {
            let text: Vec<u8> = (0..length).collect();
            let mut out = b"before ".to_vec();
            Snippet::new(&text).push(&mut out);
            assert_eq!(out, [b"before ".as_slice(), &text].concat());
        }
    }
}
