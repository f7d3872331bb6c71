//! `EventCopy`: an event record that was decoded as a whole, and needs no trace.

use pyo3::prelude::*;
use pyo3::types::{PyDict, PyTuple};
use vestige_ctf::scope::Scope;

/// The scopes in the order in which a copy has them.
pub const SCOPES: [Scope; 4] = [Scope::Packet, Scope::Common, Scope::Specific, Scope::Payload];

/// An event record that was decoded as a whole.
pub struct EventCopy {
    /// The attributes by name.
    pub facts: Py<PyDict>,
    /// The fields of each of [`SCOPES`].
    pub scopes: Py<PyTuple>,
}

impl EventCopy {
    /// An attribute.
    pub fn fact<'py>(&self, py: Python<'py>, name: &str) -> PyResult<Bound<'py, PyAny>> {
        let fact = self.facts.bind(py).get_item(name)?;
        Ok(fact.unwrap_or_else(|| py.None().into_bound(py)))
    }

    /// The fields of a scope.
    pub fn fields<'py>(&self, py: Python<'py>, scope: Scope) -> PyResult<Bound<'py, PyDict>> {
        let index = SCOPES.iter().position(|one| *one == scope).unwrap_or(0);
        Ok(self.scopes.bind(py).get_item(index)?.cast_into()?)
    }

    /// The value of a field of a scope.
    pub fn member<'py>(
        &self,
        py: Python<'py>,
        scope: Scope,
        name: &str,
    ) -> PyResult<Option<Bound<'py, PyAny>>> {
        if scope == Scope::Packet && !self.names(py, scope)?.iter().any(|known| known == name) {
            return Ok(None);
        }
        self.fields(py, scope)?.get_item(name)
    }

    /// The names of the fields of a scope that are facts of the event.
    pub fn names(&self, py: Python<'_>, scope: Scope) -> PyResult<Vec<String>> {
        if scope == Scope::Packet {
            return self.fact(py, "packet_names")?.extract();
        }
        self.fields(py, scope)?.keys().extract()
    }
}
