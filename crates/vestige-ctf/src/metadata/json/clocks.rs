//! Clock classes (CTF2-SPEC-2.0, section 5.7) and UUIDs.

use super::node::Node;
use super::value::Data;
use crate::error::Result;
use crate::model::{ClockClass, ClockOrigin, Identity};

/// A clock class with its internal ID.
///
/// # Errors
///
/// When a property is missing or not what the specification says.
pub fn clock_class(node: &Node<'_>, identity: Identity) -> Result<(String, ClockClass)> {
    // Release candidates of the specification had the name as ID.
    let id = node.optional(&["id", "name"])?;
    let id = id.ok_or_else(|| node.error("property 'id' is missing"))?.text()?.to_owned();
    let frequency = node.required("frequency")?;
    if frequency.unsigned()? == 0 {
        return Err(frequency.expected("a frequency above 0"));
    }
    let origin = origin(node)?;
    let mut clock = ClockClass {
        name: identity.name.clone().unwrap_or_else(|| id.clone()),
        uuid: uuid(node)?,
        description: node.optional_text("description")?,
        frequency: frequency.unsigned()?,
        precision: node.optional_unsigned("precision")?,
        accuracy: node.optional_unsigned("accuracy")?,
        offset_seconds: 0,
        offset_cycles: 0,
        absolute: origin == ClockOrigin::UnixEpoch,
        origin,
        identity,
    };
    if let Some(offset) = node.optional(&["offset-from-origin", "offset"])? {
        set_offset(&mut clock, &offset)?;
    }
    Ok((id, clock))
}

fn origin(node: &Node<'_>) -> Result<ClockOrigin> {
    if let Some(origin) = node.optional(&["origin"])? {
        if matches!(origin.value.data, Data::Object(_)) {
            return Ok(ClockOrigin::Custom {
                namespace: origin.optional_text("namespace")?,
                name: origin.required("name")?.text()?.to_owned(),
                uid: origin.required("uid")?.text()?.to_owned(),
            });
        }
        return origin.word(&[("unix-epoch", ())]).map(|()| ClockOrigin::UnixEpoch);
    }
    match node.optional(&["origin-is-unix-epoch"])? {
        Some(flag) if flag.boolean()? => Ok(ClockOrigin::UnixEpoch),
        _ => Ok(ClockOrigin::Unknown),
    }
}

/// Cycles of a second and more, which a release candidate allowed, become seconds.
fn set_offset(clock: &mut ClockClass, node: &Node<'_>) -> Result<()> {
    let seconds = match node.optional(&["seconds"])? {
        Some(seconds) => {
            let wide = seconds.integer()?;
            i64::try_from(wide).map_err(|_| seconds.expected("a signed integer of 64 bits"))?
        }
        None => 0,
    };
    let cycles = node.optional_unsigned("cycles")?.unwrap_or(0);
    let whole = (cycles / clock.frequency) as i64;
    clock.offset_seconds = seconds
        .checked_add(whole)
        .ok_or_else(|| node.expected("an offset whose seconds fit 64 bits"))?;
    clock.offset_cycles = cycles % clock.frequency;
    Ok(())
}

/// The property `uuid`: a list of 16 bytes.
///
/// # Errors
///
/// When it is anything else.
pub fn uuid(node: &Node<'_>) -> Result<Option<[u8; 16]>> {
    let Some(list) = node.optional(&["uuid"])? else { return Ok(None) };
    let expected = || list.expected("16 integers from 0 to 255");
    let byte = |value: &super::value::Value| match value.data {
        Data::Integer(value) => u8::try_from(value).map_err(|_| expected()),
        _ => Err(expected()),
    };
    let bytes = list.elements()?.iter().map(byte).collect::<Result<Vec<u8>>>()?;
    bytes.try_into().map(Some).map_err(|_| expected())
}
