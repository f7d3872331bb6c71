//! Parameters and results of functions: their types, and where they are at the entry.
//!
//! Follows DWARF 5, sections 2.6 (locations), 3.3 (subroutines), 4.1 (parameters) and 5 (types).
//! Where a parameter is described only by the place in which the function will put it, as
//! without optimization, it is where the calling convention has it.

use gimli::{
    AttributeValue, DebuggingInformationEntry, DwAt, Dwarf, EndianSlice, Operation, Reader,
    RunTimeEndian, SectionId, Unit, UnitHeader, UnitOffset,
};

use crate::dwarf::object_file::ObjectFile;
use crate::error::SymbolError;

/// An entry that completes another, and types of types: a longer chain is a circle.
const MAX_STEPS: usize = 32;
/// Functions have fewer.
const MAX_PARAMETERS: usize = 256;

type Slice<'a> = EndianSlice<'a, RunTimeEndian>;
type Entry<'a, 'u> = DebuggingInformationEntry<'u, 'u, Slice<'a>>;

/// What a function takes and gives.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Signature {
    /// In the order of the declaration.
    pub parameters: Vec<Parameter>,
    /// Of the result; `None` when there is none.
    pub result: Option<ValueType>,
}

/// A parameter.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Parameter {
    /// Its name, as stored; empty for one without.
    pub name: Vec<u8>,
    /// What it is.
    pub value: ValueType,
    /// Where it is when the function is entered.
    pub place: ParameterPlace,
}

/// What can be said of a type in one word.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum ValueClass {
    /// An integer with a sign; also one of a set of numbers.
    Signed,
    /// An integer without.
    Unsigned,
    /// True or false.
    Boolean,
    /// An address.
    Pointer,
    /// The address of characters.
    Text,
    /// A floating-point number.
    Float,
    /// A structure, a vector, or what is not described.
    Other,
}

/// The type of a value.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct ValueType {
    /// What it is.
    pub class: ValueClass,
    /// Its bytes; 0 when they are not known.
    pub size: u64,
}

/// Where a parameter is when its function is entered.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum ParameterPlace {
    /// In a register, by DWARF's number.
    Register(u16),
    /// So many bytes above the canonical frame address.
    Frame(i64),
    /// Nowhere: it is always this.
    Constant(i64),
    /// In the place that the calling convention gives it, which the description does not tell.
    Conventional,
    /// In parts, or computed.
    Scattered,
    /// Nowhere: the compiler needed it no more.
    Missing,
}

const OTHER: ValueType = ValueType { class: ValueClass::Other, size: 0 };

/// The address of a function, and how far the base of its frame is above the canonical address of the
/// frame, if that is known.
type Entered = (u64, Option<i64>);

/// Debug information of one file, read whole.
struct Information<'a> {
    dwarf: Dwarf<Slice<'a>>,
    headers: Vec<UnitHeader<Slice<'a>>>,
}

impl ObjectFile {
    /// What the debug information of this file says of the function at an address; `None` where it
    /// says nothing.
    ///
    /// # Errors
    /// When a section is damaged.
    pub fn signature(&self, address: u64) -> Result<Option<Signature>, SymbolError> {
        let endian = if self.is_big_endian() { RunTimeEndian::Big } else { RunTimeEndian::Little };
        let load = |id: SectionId| -> Result<Vec<u8>, SymbolError> {
            Ok(self.section_data(id.name().as_bytes())?.unwrap_or_default())
        };
        let sections = gimli::DwarfSections::load(load)?;
        let dwarf = sections.borrow(|section| EndianSlice::new(section, endian));
        // What is damaged is as good as missing: people learn that there is nothing.
        Ok(Information::new(dwarf).and_then(|all| all.signature(address)).unwrap_or_default())
    }
}

impl<'a> Information<'a> {
    fn new(dwarf: Dwarf<Slice<'a>>) -> gimli::Result<Self> {
        let mut headers = Vec::new();
        let mut units = dwarf.units();
        while let Some(header) = units.next()? {
            headers.push(header);
        }
        Ok(Self { dwarf, headers })
    }

    fn signature(&self, address: u64) -> gimli::Result<Option<Signature>> {
        for header in &self.headers {
            let unit = self.dwarf.unit(*header)?;
            if !self.may_cover(&unit, address) {
                continue;
            }
            if let Some(offset) = self.function_at(&unit, address)? {
                return self.read(&unit, offset, address).map(Some);
            }
        }
        Ok(None)
    }

    fn may_cover(&self, unit: &Unit<Slice<'a>>, address: u64) -> bool {
        let Ok(mut ranges) = self.dwarf.unit_ranges(unit) else {
            return true;
        };
        let mut any = false;
        while let Ok(Some(range)) = ranges.next() {
            any = true;
            if range.begin <= address && address < range.end {
                return true;
            }
        }
        !any
    }

    /// The entry of the function that begins at an address.
    fn function_at(
        &self,
        unit: &Unit<Slice<'a>>,
        address: u64,
    ) -> gimli::Result<Option<UnitOffset>> {
        let mut entries = unit.entries();
        while let Some((_, entry)) = entries.next_dfs()? {
            if entry.tag() != gimli::DW_TAG_subprogram {
                continue;
            }
            let Some(low) = entry.attr_value(gimli::DW_AT_low_pc)?.or(
                // Of a function in several parts, the first one is entered.
                entry.attr_value(gimli::DW_AT_entry_pc)?,
            ) else {
                if self.first_range(unit, entry)? == Some(address) {
                    return Ok(Some(entry.offset()));
                }
                continue;
            };
            if self.dwarf.attr_address(unit, low)? == Some(address) {
                return Ok(Some(entry.offset()));
            }
        }
        Ok(None)
    }

    fn first_range(
        &self,
        unit: &Unit<Slice<'a>>,
        entry: &Entry<'a, '_>,
    ) -> gimli::Result<Option<u64>> {
        if entry.attr_value(gimli::DW_AT_ranges)?.is_none() {
            return Ok(None);
        }
        let mut ranges = self.dwarf.die_ranges(unit, entry)?;
        Ok(ranges.next()?.map(|range| range.begin))
    }

    fn read(
        &self,
        unit: &Unit<Slice<'a>>,
        offset: UnitOffset,
        address: u64,
    ) -> gimli::Result<Signature> {
        let mut parameters = Vec::new();
        let base = frame_base(unit, &unit.entry(offset)?)?;
        let mut tree = unit.entries_tree(Some(offset))?;
        let root = tree.root()?;
        let result = self.inherited(unit, root.entry().offset(), gimli::DW_AT_type)?;
        let result = result.map(|(unit, value)| self.value_type(&unit, value)).transpose()?;
        let mut children = root.children();
        while let Some(child) = children.next()? {
            let entry = child.entry();
            if entry.tag() != gimli::DW_TAG_formal_parameter {
                continue;
            }
            if parameters.len() == MAX_PARAMETERS {
                break;
            }
            parameters.push(self.parameter(unit, entry, (address, base))?);
        }
        Ok(Signature { parameters, result })
    }

    fn parameter(
        &self,
        unit: &Unit<Slice<'a>>,
        entry: &Entry<'a, '_>,
        function: Entered,
    ) -> gimli::Result<Parameter> {
        let name = match self.inherited(unit, entry.offset(), gimli::DW_AT_name)? {
            Some((unit, value)) => self.dwarf.attr_string(&unit, value)?.to_slice()?.into_owned(),
            None => Vec::new(),
        };
        let value = match self.inherited(unit, entry.offset(), gimli::DW_AT_type)? {
            Some((unit, value)) => self.value_type(&unit, value)?,
            None => OTHER,
        };
        let place = self.place(unit, entry, function)?;
        Ok(Parameter { name, value, place })
    }

    /// The value of an attribute, of an entry or of those that it completes, with its unit.
    fn inherited(
        &self,
        unit: &Unit<Slice<'a>>,
        offset: UnitOffset,
        name: DwAt,
    ) -> gimli::Result<Option<(Unit<Slice<'a>>, AttributeValue<Slice<'a>>)>> {
        let mut here = (self.again(unit)?, offset);
        for _ in 0..MAX_STEPS {
            let (unit, offset) = here;
            let entry = unit.entry(offset)?;
            if let Some(value) = entry.attr_value(name)? {
                return Ok(Some((unit, value)));
            }
            let origin = match entry.attr_value(gimli::DW_AT_abstract_origin)? {
                Some(value) => Some(value),
                None => entry.attr_value(gimli::DW_AT_specification)?,
            };
            let Some(next) = origin.map(|value| self.target(&unit, &value)).transpose()?.flatten()
            else {
                return Ok(None);
            };
            here = next;
        }
        Ok(None)
    }

    fn again(&self, unit: &Unit<Slice<'a>>) -> gimli::Result<Unit<Slice<'a>>> {
        self.dwarf.unit(unit.header)
    }

    /// The entry that a value refers to; `None` where it is in another file.
    fn target(
        &self,
        unit: &Unit<Slice<'a>>,
        value: &AttributeValue<Slice<'a>>,
    ) -> gimli::Result<Option<(Unit<Slice<'a>>, UnitOffset)>> {
        match *value {
            AttributeValue::UnitRef(offset) => Ok(Some((self.again(unit)?, offset))),
            AttributeValue::DebugInfoRef(offset) => {
                let holds =
                    |header: &&UnitHeader<Slice<'a>>| offset.to_unit_offset(*header).is_some();
                let Some(header) = self.headers.iter().find(holds) else {
                    return Ok(None);
                };
                let inside = offset.to_unit_offset(header);
                let unit = self.dwarf.unit(*header)?;
                Ok(inside.map(|inside| (unit, inside)))
            }
            _ => Ok(None),
        }
    }

    fn value_type(
        &self,
        unit: &Unit<Slice<'a>>,
        value: AttributeValue<Slice<'a>>,
    ) -> gimli::Result<ValueType> {
        let mut here = self.target(unit, &value)?;
        for _ in 0..MAX_STEPS {
            let Some((unit, offset)) = here else {
                return Ok(OTHER);
            };
            let entry = unit.entry(offset)?;
            let size =
                entry.attr_value(gimli::DW_AT_byte_size)?.and_then(|size| size.udata_value());
            let under = entry.attr_value(gimli::DW_AT_type)?;
            here = match entry.tag() {
                gimli::DW_TAG_typedef
                | gimli::DW_TAG_const_type
                | gimli::DW_TAG_volatile_type
                | gimli::DW_TAG_restrict_type
                | gimli::DW_TAG_atomic_type => match under {
                    Some(under) => self.target(&unit, &under)?,
                    None => None,
                },
                // In C++ and Rust it says which integer it is.
                gimli::DW_TAG_enumeration_type => match under {
                    Some(under) => self.target(&unit, &under)?,
                    None => {
                        let size = size.unwrap_or(4);
                        return Ok(ValueType { class: ValueClass::Signed, size });
                    }
                },
                gimli::DW_TAG_base_type => return base_type(&entry, size.unwrap_or(0)),
                gimli::DW_TAG_pointer_type => {
                    let is_text = match under {
                        Some(under) => self.is_character(&unit, &under)?,
                        None => false,
                    };
                    let class = if is_text { ValueClass::Text } else { ValueClass::Pointer };
                    return Ok(ValueType { class, size: 8 });
                }
                gimli::DW_TAG_reference_type
                | gimli::DW_TAG_rvalue_reference_type
                | gimli::DW_TAG_ptr_to_member_type
                | gimli::DW_TAG_unspecified_type => {
                    return Ok(ValueType { class: ValueClass::Pointer, size: 8 });
                }
                _ => return Ok(ValueType { class: ValueClass::Other, size: size.unwrap_or(0) }),
            };
        }
        Ok(OTHER)
    }

    /// Whether a type is that of characters of text, below names and qualifiers.
    fn is_character(
        &self,
        unit: &Unit<Slice<'a>>,
        value: &AttributeValue<Slice<'a>>,
    ) -> gimli::Result<bool> {
        let mut here = self.target(unit, value)?;
        for _ in 0..MAX_STEPS {
            let Some((unit, offset)) = here else {
                return Ok(false);
            };
            let entry = unit.entry(offset)?;
            match entry.tag() {
                gimli::DW_TAG_const_type | gimli::DW_TAG_volatile_type => {}
                gimli::DW_TAG_typedef => {}
                gimli::DW_TAG_base_type => {
                    // `uint8_t *` is bytes, and need not end with a zero.
                    let encoding = entry.attr_value(gimli::DW_AT_encoding)?;
                    let size = entry.attr_value(gimli::DW_AT_byte_size)?;
                    return Ok(encoding
                        == Some(AttributeValue::Encoding(gimli::DW_ATE_signed_char))
                        && size.and_then(|size| size.udata_value()) == Some(1));
                }
                _ => return Ok(false),
            }
            here = match entry.attr_value(gimli::DW_AT_type)? {
                Some(under) => self.target(&unit, &under)?,
                None => None,
            };
        }
        Ok(false)
    }

    fn place(
        &self,
        unit: &Unit<Slice<'a>>,
        entry: &Entry<'a, '_>,
        (address, base): Entered,
    ) -> gimli::Result<ParameterPlace> {
        if let Some(value) = entry.attr_value(gimli::DW_AT_const_value)? {
            let number = value.sdata_value().or_else(|| {
                value.udata_value().map(|number| i64::from_ne_bytes(number.to_ne_bytes()))
            });
            return Ok(number.map_or(ParameterPlace::Scattered, ParameterPlace::Constant));
        }
        let Some(location) = entry.attr_value(gimli::DW_AT_location)? else {
            return Ok(ParameterPlace::Missing);
        };
        if let AttributeValue::Exprloc(expression) = location {
            // For the whole of the function: a place that its first instructions fill.
            return Ok(match place_of(expression, unit, base)? {
                // Below the return address is what belongs to the function.
                ParameterPlace::Frame(offset) if offset < 0 => ParameterPlace::Conventional,
                ParameterPlace::Scattered => ParameterPlace::Conventional,
                place => place,
            });
        }
        let Some(mut list) = self.dwarf.attr_locations(unit, location)? else {
            return Ok(ParameterPlace::Missing);
        };
        while let Some(part) = list.next()? {
            if part.range.begin <= address && address < part.range.end {
                return place_of(part.data, unit, base);
            }
        }
        Ok(ParameterPlace::Missing)
    }
}

fn base_type(entry: &Entry<'_, '_>, size: u64) -> gimli::Result<ValueType> {
    let encoding = match entry.attr_value(gimli::DW_AT_encoding)? {
        Some(AttributeValue::Encoding(encoding)) => encoding,
        _ => return Ok(OTHER),
    };
    let class = match encoding {
        gimli::DW_ATE_signed | gimli::DW_ATE_signed_char => ValueClass::Signed,
        gimli::DW_ATE_unsigned
        | gimli::DW_ATE_unsigned_char
        | gimli::DW_ATE_UTF
        | gimli::DW_ATE_UCS
        | gimli::DW_ATE_ASCII => ValueClass::Unsigned,
        gimli::DW_ATE_boolean => ValueClass::Boolean,
        gimli::DW_ATE_address => ValueClass::Pointer,
        gimli::DW_ATE_float => ValueClass::Float,
        _ => ValueClass::Other,
    };
    Ok(ValueType { class, size })
}

/// How far the base of a function's frame is above the canonical address of the frame.
fn frame_base(unit: &Unit<Slice<'_>>, entry: &Entry<'_, '_>) -> gimli::Result<Option<i64>> {
    let Some(AttributeValue::Exprloc(expression)) = entry.attr_value(gimli::DW_AT_frame_base)?
    else {
        return Ok(None);
    };
    Ok(match expression.operations(unit.encoding()).next()? {
        Some(Operation::CallFrameCFA) => Some(0),
        // Below the return address is the frame pointer of the caller.
        Some(Operation::Register { register: gimli::X86_64::RBP }) => Some(-16),
        _ => None,
    })
}

/// Where an expression says that a value is, when none of the function has run.
fn place_of(
    expression: gimli::Expression<Slice<'_>>,
    unit: &Unit<Slice<'_>>,
    base: Option<i64>,
) -> gimli::Result<ParameterPlace> {
    let mut operations = expression.operations(unit.encoding());
    let first = operations.next()?;
    let (second, third) = (operations.next()?, operations.next()?);
    let is_value = second == Some(Operation::StackValue) && third.is_none();
    Ok(match first {
        None => ParameterPlace::Missing,
        Some(Operation::Register { register }) if second.is_none() => {
            ParameterPlace::Register(register.0)
        }
        Some(Operation::FrameOffset { offset }) if second.is_none() => match base {
            Some(base) => ParameterPlace::Frame(offset.saturating_add(base)),
            None => ParameterPlace::Scattered,
        },
        // On top of the stack is the return address.
        Some(Operation::RegisterOffset { register: gimli::X86_64::RSP, offset, .. })
            if second.is_none() =>
        {
            ParameterPlace::Frame(offset.saturating_sub(8))
        }
        Some(Operation::EntryValue { expression }) if is_value => {
            match gimli::Expression(expression).operations(unit.encoding()).next()? {
                Some(Operation::Register { register }) => ParameterPlace::Register(register.0),
                _ => ParameterPlace::Scattered,
            }
        }
        Some(Operation::UnsignedConstant { value }) if is_value => {
            ParameterPlace::Constant(i64::from_ne_bytes(value.to_ne_bytes()))
        }
        Some(Operation::SignedConstant { value }) if is_value => ParameterPlace::Constant(value),
        _ => ParameterPlace::Scattered,
    })
}
