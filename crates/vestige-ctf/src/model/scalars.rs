//! Field classes beside the integers of up to 64 bits, floats and strings of CTF 1.8: bit
//! arrays, variable-length integers, encoded text, BLOBs (CTF2-SPEC-2.0, section 5.3), and
//! the wide integers of CTF 1.8.

use super::{ByteOrder, DisplayBase, EnumerationMapping, Length, Role};

/// What the value of a field is needed for, beside being shown.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct Uses {
    /// Index of the clock class that the value updates.
    pub clock: Option<usize>,
    /// What the value means to the reader.
    pub roles: Vec<Role>,
    /// Where to keep the value, when a length or a selector needs it.
    pub slot: Option<usize>,
}

impl Uses {
    /// Whether the value is needed at all.
    #[must_use]
    pub fn any(&self) -> bool {
        self.clock.is_some() || !self.roles.is_empty() || self.slot.is_some()
    }
}

/// What the bits of a bit array mean.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum BitMeaning {
    /// Nothing beyond the bits.
    Bits,
    /// Flags: each range is one of bit indexes.
    Flags(Vec<EnumerationMapping>),
    /// True when any bit is set.
    Boolean,
    /// An integer of more than 64 bits, or one whose bits are not in the usual order.
    Integer {
        /// Whether it is two's complement.
        signed: bool,
        /// Preferred base.
        base: DisplayBase,
        /// Names of values.
        mappings: Vec<EnumerationMapping>,
    },
    /// An IEEE 754 binary floating point number that is none of the usual two, or one whose
    /// bits are not in the usual order.
    Float,
}

/// A fixed number of bits with any meaning (CTF2-SPEC-2.0, section 5.3.4).
///
/// Integers of up to 64 bits and floats of 32 and 64 bits have classes of their own, which
/// are decoded faster.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct BitArrayClass {
    /// Size in bits, at least 1.
    pub size: u32,
    /// Alignment in bits, a power of two.
    pub alignment: u32,
    /// Byte order.
    pub order: ByteOrder,
    /// Whether the order of the bits is the other one than that of the byte order.
    pub reversed: bool,
    /// What the bits mean.
    pub meaning: BitMeaning,
    /// What the value is needed for.
    pub uses: Uses,
}

/// An integer in the LEB128 encoding (CTF2-SPEC-2.0, section 5.3.10).
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct VariableLengthClass {
    /// Whether it is two's complement.
    pub signed: bool,
    /// Preferred base.
    pub base: DisplayBase,
    /// Names of values.
    pub mappings: Vec<EnumerationMapping>,
    /// What the value is needed for.
    pub uses: Uses,
}

/// How the codepoints of a string are encoded (CTF2-SPEC-2.0, section 5.3.11).
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum StringEncoding {
    /// UTF-8.
    Utf8,
    /// UTF-16 in a byte order.
    Utf16(ByteOrder),
    /// UTF-32 in a byte order.
    Utf32(ByteOrder),
}

impl StringEncoding {
    /// Bytes of a code unit.
    #[must_use]
    pub fn unit(self) -> usize {
        match self {
            Self::Utf8 => 1,
            Self::Utf16(_) => 2,
            Self::Utf32(_) => 4,
        }
    }

    /// The name that CTF 2 gives it.
    #[must_use]
    pub fn name(self) -> &'static str {
        match self {
            Self::Utf8 => "utf-8",
            Self::Utf16(ByteOrder::Little) => "utf-16le",
            Self::Utf16(ByteOrder::Big) => "utf-16be",
            Self::Utf32(ByteOrder::Little) => "utf-32le",
            Self::Utf32(ByteOrder::Big) => "utf-32be",
        }
    }
}

/// A string that has a length, or another encoding than UTF-8.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct TextClass {
    /// Number of bytes, the first U+0000 and all behind it being padding; `None` for a
    /// string that ends with U+0000.
    pub length: Option<Length>,
    /// Encoding of its codepoints.
    pub encoding: StringEncoding,
}

/// Bytes with a media type (CTF2-SPEC-2.0, section 5.3.15).
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct BlobClass {
    /// Number of bytes.
    pub length: Length,
    /// IANA media type.
    pub media_type: String,
    /// The bytes that it must have: those of the metadata's UUID.
    pub expected: Option<[u8; 16]>,
}
