//! What the roles of field classes mean in the structure where they stand (CTF2-SPEC-2.0,
//! sections 5.6.1 and 5.8.1).

use super::node::Node;
use crate::error::{CtfError, Result};
use crate::model::{FieldClass, FieldKind, Member, Role};

/// A structure that is decoded as a whole.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Scope {
    /// Header of a packet.
    PacketHeader,
    /// Context of a packet, with the clock class of its time stamps.
    PacketContext(Option<usize>),
    /// Header of an event record, with the clock class of its time stamp.
    EventHeader(Option<usize>),
    /// Common context, specific context or payload: fields of the user.
    User,
}

impl Scope {
    fn clock(self) -> Option<usize> {
        match self {
            Self::PacketContext(clock) | Self::EventHeader(clock) => clock,
            Self::PacketHeader | Self::User => None,
        }
    }

    fn knows(self, role: Role) -> bool {
        match self {
            Self::PacketHeader => {
                matches!(role, Role::Magic | Role::StreamClassId | Role::DataStreamId)
            }
            Self::PacketContext(_) => matches!(
                role,
                Role::PacketSize
                    | Role::ContentSize
                    | Role::Timestamp
                    | Role::PacketEnd
                    | Role::EventsDiscarded
                    | Role::PacketSequenceNumber
            ),
            Self::EventHeader(_) => matches!(role, Role::Timestamp | Role::EventClassId),
            Self::User => false,
        }
    }
}

/// Checks the field class of a scope and gives its fields the roles that they have there.
///
/// # Errors
///
/// When it is no structure, or a field cannot have its role.
pub fn set_roles(mut class: FieldClass, scope: Scope, node: &Node<'_>) -> Result<FieldClass> {
    let FieldKind::Structure { members, .. } = &mut class.kind else {
        return Err(node.expected("a structure"));
    };
    if scope == Scope::PacketHeader {
        check_magic(members, node)?;
    }
    set(&mut class, scope).map_err(|message| -> CtfError { node.error(message) })?;
    Ok(class)
}

/// The magic number is the first member and has 32 bits.
fn check_magic(members: &[Member], node: &Node<'_>) -> Result<()> {
    for (index, member) in members.iter().enumerate() {
        let integer = member.class.as_integer();
        let is_magic = integer.is_some_and(|class| class.role == Some(Role::Magic));
        if is_magic && (index != 0 || integer.is_none_or(|class| class.size != 32)) {
            let message = "the packet magic number must be the first member, of 32 bits";
            return Err(node.error(message));
        }
    }
    Ok(())
}

fn set(class: &mut FieldClass, scope: Scope) -> std::result::Result<(), &'static str> {
    match &mut class.kind {
        FieldKind::Integer(integer) | FieldKind::Enumeration(integer, _) => {
            let mut roles: Vec<Role> = integer.role.into_iter().collect();
            integer.clock = meaning(&mut roles, scope)?;
            integer.role = roles.first().copied();
        }
        FieldKind::BitArray(bits) => bits.uses.clock = meaning(&mut bits.uses.roles, scope)?,
        FieldKind::VariableLength(integer) => {
            integer.uses.clock = meaning(&mut integer.uses.roles, scope)?;
        }
        FieldKind::Blob(blob) => {
            if scope != Scope::PacketHeader {
                blob.expected = None;
            }
        }
        FieldKind::Array { element, .. } => set(element, scope)?,
        FieldKind::Optional(optional) => set(&mut optional.field, scope)?,
        FieldKind::Structure { members: list, .. } | FieldKind::Variant { options: list, .. } => {
            for member in list {
                set(&mut member.class, scope)?;
            }
        }
        FieldKind::Float { .. } | FieldKind::String | FieldKind::Text(_) => {}
    }
    Ok(())
}

/// Drops the roles that mean nothing in a scope; returns the clock that the value updates.
fn meaning(
    roles: &mut Vec<Role>,
    scope: Scope,
) -> std::result::Result<Option<usize>, &'static str> {
    roles.retain(|role| scope.knows(*role));
    let timed = |role: &Role| matches!(role, Role::Timestamp | Role::PacketEnd);
    if roles.iter().any(timed) && scope.clock().is_none() {
        return Err("a time stamp in a data stream class without 'default-clock-class-id'");
    }
    let Some(place) = roles.iter().position(|role| *role == Role::Timestamp) else {
        return Ok(None);
    };
    roles.remove(place);
    if matches!(scope, Scope::PacketContext(_)) {
        roles.push(Role::PacketBeginning);
    }
    Ok(scope.clock())
}
