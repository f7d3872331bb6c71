//! `Description`: the Python objects that stand for an event record class and its fields.

use std::collections::HashMap;
use std::sync::Arc;

use pyo3::prelude::*;
use pyo3::types::PyString;
use vestige_ctf::scope::Scope;

/// The scopes in the order in which a description has them.
const SCOPES: [Scope; 4] = Scope::NEAREST_FIRST;

/// A member of a scope.
pub struct Member {
    /// Its index in the scope's class; `None` if a filter has added it.
    pub index: Option<usize>,
    /// The Python class of its fields.
    pub kind: Py<PyAny>,
    /// The object that stands for its field class.
    pub class: Py<PyAny>,
}

/// What is known of a scope.
pub struct ScopeDescription {
    /// The Python class of its fields.
    pub kind: Py<PyAny>,
    /// The object that stands for its field class.
    pub class: Py<PyAny>,
    /// The members that are shown, by their names.
    pub members: HashMap<String, Member>,
}

/// What Python says of an event record class of a data stream.
pub struct Description {
    /// The object that stands for the event record class.
    pub event_class: Py<PyAny>,
    /// Its name.
    pub name: Option<Py<PyString>>,
    /// The object that stands for the data stream.
    pub stream: Py<PyAny>,
    /// The object that stands for the clock class, when the data stream has a clock.
    pub clock_class: Option<Py<PyAny>>,
    /// What there is in each scope.
    scopes: [Option<ScopeDescription>; 4],
}

/// A scope as Python describes it: Python class, field class, and for each member its name,
/// index, Python class and field class.
type ScopeTuple = (Py<PyAny>, Py<PyAny>, Vec<(String, Option<usize>, Py<PyAny>, Py<PyAny>)>);

/// All as Python describes it; the scopes in the order of [`SCOPES`].
type DescriptionTuple = (
    Py<PyAny>,
    Option<Py<PyString>>,
    Py<PyAny>,
    Option<Py<PyAny>>,
    Option<ScopeTuple>,
    Option<ScopeTuple>,
    Option<ScopeTuple>,
    Option<ScopeTuple>,
);

impl Description {
    /// Takes what Python says.
    ///
    /// # Errors
    ///
    /// When it is of another form.
    pub fn of(described: &Bound<'_, PyAny>) -> PyResult<Arc<Self>> {
        let all: DescriptionTuple = described.extract()?;
        let (event_class, name, stream, clock_class, payload, specific, common, packet) = all;
        let scopes = [payload, specific, common, packet].map(|scope| scope.map(scope_of));
        Ok(Arc::new(Self { event_class, name, stream, clock_class, scopes }))
    }

    /// What there is in a scope.
    pub fn scope(&self, scope: Scope) -> Option<&ScopeDescription> {
        let index = SCOPES.iter().position(|one| *one == scope)?;
        self.scopes.get(index)?.as_ref()
    }

    /// The member that a name means, and its scope: the nearest that has it.
    pub fn member(&self, name: &str) -> Option<(Scope, &Member)> {
        SCOPES.iter().zip(&self.scopes).find_map(|(scope, described)| {
            described.as_ref()?.members.get(name).map(|member| (*scope, member))
        })
    }
}

fn scope_of((kind, class, members): ScopeTuple) -> ScopeDescription {
    let members = members
        .into_iter()
        .map(|(name, index, kind, class)| (name, Member { index, kind, class }))
        .collect();
    ScopeDescription { kind, class, members }
}
