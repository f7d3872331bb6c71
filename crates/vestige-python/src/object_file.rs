//! Object files: conversions between `vestige_symbols` and Python.
//!
//! Which object was loaded where, and which debug file belongs to it, is
//! decided in `vestige.debuginfo`; here are only bytes and answers.

use std::borrow::Cow;
use std::io;
use std::path::{Path, PathBuf};

use pyo3::prelude::*;
use vestige_symbols::{
    is_hole, unpacked_file, Crc32, Parameter, ParameterPlace, ReadAt, Signature, SplitUnit,
    SymbolError, ValueClass, ValueType,
};

use crate::errors::{exception, os_text};
use crate::source::{FileSource, Identity};

/// The `dwo_id`, the file name and the directory of a unit that is split off.
type SplitRow = (u64, Cow<'static, [u8]>, Cow<'static, [u8]>);

const BLOCK_SIZE: usize = 1 << 20;

/// Why a file cannot be used: what it holds, or that it cannot be read at all.
pub(crate) enum Failure {
    Content(SymbolError),
    Access(io::Error),
}

impl From<SymbolError> for Failure {
    fn from(error: SymbolError) -> Self {
        Self::Content(error)
    }
}

impl From<io::Error> for Failure {
    fn from(error: io::Error) -> Self {
        Self::Access(error)
    }
}

/// `vestige.errors.DebugInfoError` for a file that cannot be used.
pub(crate) fn symbol_error(py: Python<'_>, failure: &Failure, path: &str) -> PyErr {
    let (message, offset) = match failure {
        Failure::Content(error) => (error.to_string(), error.offset()),
        Failure::Access(error) => (format!("cannot read the file: {}", os_text(error)), None),
    };
    exception(py, "DebugInfoError", &message, Some(path), offset)
}

pub(crate) fn open_object(path: &Path) -> Result<(Identity, vestige_symbols::ObjectFile), Failure> {
    let source = FileSource::open(path)?;
    let identity = source.identity()?;
    let bytes: Box<dyn ReadAt> = match unpacked_file(&source)? {
        Some(unpacked) => Box::new(unpacked),
        None => Box::new(source),
    };
    Ok((identity, vestige_symbols::ObjectFile::new(bytes)?))
}

/// What a type is, and its bytes.
type TypeRow = (&'static str, u64);
/// Parameters, each with its name, its type and its place; the type of the result.
type SignatureRow = (Vec<(String, TypeRow, &'static str, i64)>, Option<TypeRow>);

fn type_row(value: ValueType) -> TypeRow {
    let class = match value.class {
        ValueClass::Signed => "int",
        ValueClass::Unsigned => "uint",
        ValueClass::Boolean => "bool",
        ValueClass::Pointer => "ptr",
        ValueClass::Text => "str",
        ValueClass::Float => "float",
        ValueClass::Other => "other",
    };
    (class, value.size)
}

fn signature_row(signature: Signature) -> SignatureRow {
    let row = |parameter: Parameter| {
        let (place, number) = match parameter.place {
            ParameterPlace::Register(number) => ("register", i64::from(number)),
            ParameterPlace::Frame(offset) => ("frame", offset),
            ParameterPlace::Constant(value) => ("constant", value),
            ParameterPlace::Conventional => ("conventional", 0),
            ParameterPlace::Scattered => ("scattered", 0),
            ParameterPlace::Missing => ("missing", 0),
        };
        let name = String::from_utf8_lossy(&parameter.name).into_owned();
        (name, type_row(parameter.value), place, number)
    };
    (signature.parameters.into_iter().map(row).collect(), signature.result.map(type_row))
}

#[doc = core_doc!(ObjectFile)]
#[pyclass(frozen, module = "vestige._core")]
pub struct ObjectFile {
    pub(crate) path: String,
    /// Which file it is; none for an object that is no file of its own.
    pub(crate) identity: Option<Identity>,
    pub(crate) inner: vestige_symbols::ObjectFile,
}

#[pymethods]
impl ObjectFile {
    #[doc = core_doc!(ObjectFile.open)]
    #[staticmethod]
    fn open(py: Python<'_>, path: PathBuf) -> PyResult<Self> {
        let opened = py.detach(|| open_object(&path));
        // A name may hold any bytes; messages are text.
        let path = path.to_string_lossy().into_owned();
        match opened {
            Ok((identity, inner)) => Ok(Self { path, identity: Some(identity), inner }),
            Err(failure) => Err(symbol_error(py, &failure, &path)),
        }
    }

    #[doc = core_doc!(ObjectFile.path)]
    #[getter]
    fn path(&self) -> &str {
        &self.path
    }

    #[doc = core_doc!(ObjectFile.identity)]
    #[getter]
    fn identity(&self) -> Option<Identity> {
        self.identity
    }

    #[doc = core_doc!(ObjectFile.is_pic)]
    #[getter]
    fn is_pic(&self) -> bool {
        self.inner.is_pic()
    }

    #[doc = core_doc!(ObjectFile.is_relocatable)]
    #[getter]
    fn is_relocatable(&self) -> bool {
        self.inner.is_relocatable()
    }

    #[doc = core_doc!(ObjectFile.code_sections)]
    #[getter]
    fn code_sections(&self) -> Vec<(String, u64, u64)> {
        let text = |name: &[u8]| String::from_utf8_lossy(name).into_owned();
        let sections = self.inner.code_sections();
        sections.map(|(name, address, size)| (text(name), address, size)).collect()
    }

    #[doc = core_doc!(ObjectFile.machine)]
    #[getter]
    fn machine(&self) -> String {
        self.inner.machine_name()
    }

    #[doc = core_doc!(ObjectFile.bits)]
    #[getter]
    fn bits(&self) -> u8 {
        self.inner.bits()
    }

    #[doc = core_doc!(ObjectFile.big_endian)]
    #[getter]
    fn big_endian(&self) -> bool {
        self.inner.is_big_endian()
    }

    #[doc = core_doc!(ObjectFile.build_id)]
    #[getter]
    fn build_id(&self) -> Option<&[u8]> {
        self.inner.build_id()
    }

    #[doc = core_doc!(ObjectFile.debug_link)]
    #[getter]
    fn debug_link(&self) -> Option<(&[u8], u32)> {
        self.inner.debug_link().map(|link| (link.name.as_slice(), link.crc))
    }

    #[doc = core_doc!(ObjectFile.debug_alt_link)]
    #[getter]
    fn debug_alt_link(&self) -> Option<(&[u8], &[u8])> {
        self.inner.debug_alt_link().map(|link| (link.name.as_slice(), link.id.as_slice()))
    }

    #[doc = core_doc!(ObjectFile.mini_debug_info)]
    fn mini_debug_info(&self, py: Python<'_>) -> PyResult<Option<Self>> {
        let unpacked = py.detach(|| self.inner.mini_debug_info());
        let inner = unpacked.map_err(|error| symbol_error(py, &error.into(), &self.path))?;
        let packed = |inner| Self { path: self.path.clone(), identity: None, inner };
        Ok(inner.map(packed))
    }

    #[doc = core_doc!(ObjectFile.split_units)]
    #[getter]
    fn split_units(&self, py: Python<'_>) -> PyResult<Vec<SplitRow>> {
        let units = py.detach(|| self.inner.split_units());
        let units = units.map_err(|error| symbol_error(py, &error.into(), &self.path))?;
        let row = |unit: SplitUnit| (unit.dwo_id, unit.name.into(), unit.directory.into());
        Ok(units.into_iter().map(row).collect())
    }

    #[doc = core_doc!(ObjectFile.has_dwarf)]
    #[getter]
    fn has_dwarf(&self, py: Python<'_>) -> PyResult<bool> {
        let found = py.detach(|| self.inner.has_dwarf());
        found.map_err(|error| symbol_error(py, &error.into(), &self.path))
    }

    #[doc = core_doc!(ObjectFile.assume_dwarf)]
    fn assume_dwarf(&self) {
        self.inner.assume_dwarf();
    }

    #[doc = core_doc!(ObjectFile.has_symbols)]
    #[getter]
    fn has_symbols(&self) -> bool {
        self.inner.has_symbol_table()
    }

    #[doc = core_doc!(ObjectFile.text_base)]
    #[getter]
    fn text_base(&self) -> u64 {
        self.inner.text_base()
    }

    #[doc = core_doc!(ObjectFile.link_base)]
    #[getter]
    fn link_base(&self) -> u64 {
        self.inner.link_base()
    }

    #[doc = core_doc!(ObjectFile.text_ranges)]
    #[getter]
    fn text_ranges(&self) -> Vec<(u64, u64)> {
        self.inner.text_ranges().to_vec()
    }

    #[doc = core_doc!(ObjectFile.signature)]
    fn signature(&self, py: Python<'_>, address: u64) -> PyResult<Option<SignatureRow>> {
        let found = py.detach(|| self.inner.signature(address));
        let found = found.map_err(|error| symbol_error(py, &error.into(), &self.path))?;
        Ok(found.map(signature_row))
    }
}

#[doc = core_doc!(file_crc32)]
#[pyfunction]
pub fn file_crc32(py: Python<'_>, path: PathBuf) -> PyResult<u32> {
    let crc = py.detach(|| read_crc32(&path));
    crc.map_err(|error| symbol_error(py, &error.into(), &path.to_string_lossy()))
}

fn read_crc32(path: &Path) -> io::Result<u32> {
    let source = FileSource::open(path)?;
    if is_hole(source.len(), source.stored()) {
        // Its zeros alone might take hours.
        return Err(io::Error::other("the file is little else than a hole"));
    }
    let mut block = vec![0; BLOCK_SIZE];
    let mut crc = Crc32::new();
    let mut offset = 0;
    loop {
        match source.read_at(offset, &mut block) {
            Ok(0) => return Ok(crc.finish()),
            Ok(count) => {
                crc.update(block.get(..count).unwrap_or_default());
                offset += count as u64;
            }
            Err(error) if error.kind() == io::ErrorKind::Interrupted => {}
            Err(error) => return Err(error),
        }
    }
}
