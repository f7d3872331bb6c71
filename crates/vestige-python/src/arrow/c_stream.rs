//! Record batches in the Arrow C stream interface.
//!
//! <https://arrow.apache.org/docs/format/CStreamInterface.html>: three callbacks and `release`.
//! A consumer may call them from any thread, but from one at a time.
#![allow(unsafe_code)]

use std::ffi::{c_char, c_int, c_void, CString};
use std::ptr::{null, null_mut};

use pyo3::{ffi, Python};

use super::c_data::{ArrowArray, ArrowSchema};
use super::pipeline::Batches;

/// `EIO`: what went wrong is in the text of the error.
const INPUT_OUTPUT_ERROR: c_int = 5;

/// `struct ArrowArrayStream`.
#[repr(C)]
pub struct ArrowArrayStream {
    get_schema: Option<unsafe extern "C" fn(*mut Self, *mut ArrowSchema) -> c_int>,
    get_next: Option<unsafe extern "C" fn(*mut Self, *mut ArrowArray) -> c_int>,
    get_last_error: Option<unsafe extern "C" fn(*mut Self) -> *const c_char>,
    release: Option<unsafe extern "C" fn(*mut Self)>,
    private_data: *mut c_void,
}

// SAFETY: the stream owns its pipeline, which any thread may use.
unsafe impl Send for ArrowArrayStream {}

impl Drop for ArrowArrayStream {
    fn drop(&mut self) {
        if let Some(release) = self.release {
            // SAFETY: `release` is set, so this structure was not taken over.
            unsafe { release(self) };
        }
    }
}

struct Private {
    batches: Batches,
    error: Option<CString>,
}

impl ArrowArrayStream {
    /// A stream of the record batches.
    pub fn new(batches: Batches) -> Self {
        let private = Box::new(Private { batches, error: None });
        Self {
            get_schema: Some(get_schema),
            get_next: Some(get_next),
            get_last_error: Some(get_last_error),
            release: Some(release),
            private_data: Box::into_raw(private).cast(),
        }
    }
}

/// The private data of a stream that is not released.
///
/// # Safety
///
/// `stream` must have been made by [`ArrowArrayStream::new`] and not be in use elsewhere.
unsafe fn private<'a>(stream: *mut ArrowArrayStream) -> &'a mut Private {
    // SAFETY: `private_data` was made by `Box::into_raw`, and the caller has it alone.
    unsafe { &mut *(*stream).private_data.cast::<Private>() }
}

unsafe extern "C" fn get_schema(stream: *mut ArrowArrayStream, out: *mut ArrowSchema) -> c_int {
    // SAFETY: as the interface promises.
    let columns = unsafe { private(stream) }.batches.columns();
    // SAFETY: `out` is memory for a structure, whatever is in it.
    unsafe { out.write(ArrowSchema::of_batches(columns)) };
    0
}

unsafe extern "C" fn get_next(stream: *mut ArrowArrayStream, out: *mut ArrowArray) -> c_int {
    // SAFETY: as the interface promises.
    let private = unsafe { private(stream) };
    let array = match attached(|py| private.batches.next(py)) {
        Some(Ok(Some(batch))) => ArrowArray::of_batch(batch),
        Some(Ok(None)) => ArrowArray::none(),
        Some(Err(message)) => return fail(private, message),
        None => return fail(private, "the Python interpreter has ended".to_owned()),
    };
    // SAFETY: as in `get_schema`.
    unsafe { out.write(array) };
    0
}

/// Does something with the interpreter lock, which the consumer may have given up; `None` when
/// there is no interpreter any more.
///
/// A call of ours further down the stack may have been attached when it ran Python code, and that
/// code a consumer which let go of the lock: what the binding remembers of this thread does not
/// say whether it is attached now. So the interpreter is asked.
fn attached<T>(work: impl FnOnce(Python<'_>) -> T) -> Option<T> {
    // SAFETY: it may be asked at any time.
    if unsafe { ffi::Py_IsInitialized() } == 0 {
        return None;
    }
    // SAFETY: there is an interpreter; the call may be nested, and is undone below.
    let state = unsafe { ffi::PyGILState_Ensure() };
    let done = Python::try_attach(work);
    // SAFETY: `state` is from the call above, in this thread.
    unsafe { ffi::PyGILState_Release(state) };
    done
}

fn fail(private: &mut Private, message: String) -> c_int {
    private.error = CString::new(message.replace('\0', "\u{2400}")).ok();
    INPUT_OUTPUT_ERROR
}

unsafe extern "C" fn get_last_error(stream: *mut ArrowArrayStream) -> *const c_char {
    // SAFETY: as the interface promises.
    unsafe { private(stream) }.error.as_ref().map_or(null(), |error| error.as_ptr())
}

unsafe extern "C" fn release(stream: *mut ArrowArrayStream) {
    // SAFETY: the interface passes a structure that was made by `ArrowArrayStream::new`.
    let stream = unsafe { &mut *stream };
    // SAFETY: made by `Box::into_raw` there, and `release` is called once.
    let private = unsafe { Box::from_raw(stream.private_data.cast::<Private>()) };
    // Its Python objects can only be dropped while there is an interpreter.
    let mut private = Some(private);
    if attached(|_| drop(private.take())).is_none() {
        std::mem::forget(private);
    }
    stream.private_data = null_mut();
    stream.release = None;
}
