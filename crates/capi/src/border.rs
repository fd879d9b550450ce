//! The border to C: pointers become references, failures a status, and no panic goes on.
//!
//! All pointers that C gives are followed here. Each is compared with NULL and with what its
//! type has to lie at; that it points to what it says, for as long as the call lasts, and that
//! nobody else uses a handle meanwhile, is what `retime.h` asks of its callers.

use std::ffi::{CStr, OsStr, OsString, c_char};
use std::mem::MaybeUninit;
use std::os::unix::ffi::OsStrExt;
use std::panic::{AssertUnwindSafe, catch_unwind};
use std::path::Path;

use retime_cli::library::Failure;

use crate::failed::{Failed, Status, keep};

/// Does the work of one call. What it fails with is kept for the thread, a panic too.
pub(crate) fn guarded(work: impl FnOnce() -> Result<Status, Failed>) -> Status {
    // What a panic leaves half done is a handle of the caller, who is told to free it.
    let done = catch_unwind(AssertUnwindSafe(work));
    let done = done.unwrap_or_else(|panic| {
        let text = panic.downcast_ref::<&str>().copied();
        let text = text.or_else(|| panic.downcast_ref::<String>().map(String::as_str));
        Err(Failure::defect(text.unwrap_or("the work ended without a result")).into())
    });
    done.unwrap_or_else(|failed| {
        keep(&failed);
        failed.status
    })
}

/// Does the work of a call that has one thing to give, for which there has to be a place.
///
/// # Safety
///
/// `to` is NULL or has room for one.
pub(crate) unsafe fn giving<T>(
    to: *mut T,
    name: &str,
    work: impl FnOnce() -> Result<T, Failed>,
) -> Status {
    guarded(|| {
        // SAFETY: as the caller promises.
        let place = unsafe { place(to, name) }?;
        place.write(work()?);
        Ok(Status::Ok)
    })
}

/// Does the work of a call that makes a handle. Where it fails, the handle is NULL.
///
/// # Safety
///
/// `to` is NULL or has room for one.
pub(crate) unsafe fn making<T>(
    to: *mut *mut T,
    name: &str,
    work: impl FnOnce() -> Result<T, Failed>,
) -> Status {
    guarded(|| {
        // SAFETY: as the caller promises.
        let place = unsafe { place(to, name) }?;
        place.write(std::ptr::null_mut());
        let handle = Box::new(work()?);
        place.write(Box::into_raw(handle));
        Ok(Status::Ok)
    })
}

/// Gives a handle back; NULL is none.
///
/// # Safety
///
/// `handle` is NULL, or was [made](making) and not given back.
pub(crate) unsafe fn unmade<T>(handle: *mut T) {
    if handle.is_null() {
        return;
    }
    guarded(|| {
        // SAFETY: as the caller promises, it came from `Box::into_raw`.
        drop(unsafe { Box::from_raw(handle) });
        Ok(Status::Ok)
    });
}

/// The value behind a pointer.
///
/// # Safety
///
/// `pointer` is NULL, or points to a `T` that nobody changes during the call.
pub(crate) unsafe fn seen<'a, T>(pointer: *const T, name: &str) -> Result<&'a T, Failed> {
    is_usable(pointer, name)?;
    // SAFETY: it is neither NULL nor at a place where no `T` can be; the rest was promised.
    Ok(unsafe { &*pointer })
}

/// The value behind a pointer, to be changed.
///
/// # Safety
///
/// `pointer` is NULL, or points to a `T` that nobody else uses during the call.
pub(crate) unsafe fn used<'a, T>(pointer: *mut T, name: &str) -> Result<&'a mut T, Failed> {
    is_usable(pointer, name)?;
    // SAFETY: as in `seen`.
    Ok(unsafe { &mut *pointer })
}

/// The place for a result.
///
/// # Safety
///
/// `pointer` is NULL, or points to room for a `T` that nobody else uses during the call.
pub(crate) unsafe fn place<'a, T>(
    pointer: *mut T,
    name: &str,
) -> Result<&'a mut MaybeUninit<T>, Failed> {
    is_usable(pointer, name)?;
    // SAFETY: as in `seen`; what is there need not be a `T` yet.
    Ok(unsafe { &mut *pointer.cast::<MaybeUninit<T>>() })
}

/// Values in a row; a pointer to none may be NULL.
///
/// # Safety
///
/// `pointer` points to so many `T` that nobody changes during the call, if there are any.
pub(crate) unsafe fn row<'a, T>(
    pointer: *const T,
    count: usize,
    name: &str,
) -> Result<&'a [T], Failed> {
    if count == 0 {
        return Ok(&[]);
    }
    is_usable(pointer, name)?;
    fits::<T>(count, name)?;
    // SAFETY: as in `seen`, and it is no longer than anything in memory can be.
    Ok(unsafe { std::slice::from_raw_parts(pointer, count) })
}

/// Places for results in a row; a pointer to none may be NULL.
///
/// # Safety
///
/// `pointer` points to room for so many `T` that nobody else uses during the call, if there
/// are any.
pub(crate) unsafe fn places<'a, T>(
    pointer: *mut T,
    count: usize,
    name: &str,
) -> Result<&'a mut [MaybeUninit<T>], Failed> {
    if count == 0 {
        return Ok(&mut []);
    }
    is_usable(pointer, name)?;
    fits::<T>(count, name)?;
    // SAFETY: as in `row`; what is there need not be `T` yet.
    Ok(unsafe { std::slice::from_raw_parts_mut(pointer.cast::<MaybeUninit<T>>(), count) })
}

/// A text of C, as bytes.
///
/// # Safety
///
/// `text` is NULL, or ends with a zero and is not changed during the call.
pub(crate) unsafe fn text<'a>(text: *const c_char, name: &str) -> Result<&'a CStr, Failed> {
    is_usable(text, name)?;
    // SAFETY: it is not NULL; the rest was promised.
    Ok(unsafe { CStr::from_ptr(text) })
}

/// A path.
///
/// # Safety
///
/// As of [`text`].
pub(crate) unsafe fn path<'a>(path: *const c_char, name: &str) -> Result<&'a Path, Failed> {
    // SAFETY: as the caller promises.
    let bytes = unsafe { text(path, name) }?.to_bytes();
    if bytes.is_empty() {
        return Err(Failed::argument(format!("{name} is empty: give a path")));
    }
    Ok(Path::new(OsStr::from_bytes(bytes)))
}

/// Words up to a NULL; none if the pointer to them is NULL.
///
/// # Safety
///
/// `words` is NULL, or points to texts that end with a zero, and after them a NULL.
pub(crate) unsafe fn words(words: *const *const c_char) -> Result<Vec<OsString>, Failed> {
    let mut all = Vec::new();
    if words.is_null() {
        return Ok(all);
    }
    is_usable(words, "the list of options")?;
    loop {
        // SAFETY: no NULL was before it, so the list goes on up to here.
        let at = unsafe { words.add(all.len()) };
        // SAFETY: it lies in the list.
        let word = unsafe { *at };
        if word.is_null() {
            return Ok(all);
        }
        // SAFETY: as the caller promises.
        let word = unsafe { text(word, "an option") }?;
        all.push(OsStr::from_bytes(word.to_bytes()).to_owned());
    }
}

fn is_usable<T>(pointer: *const T, name: &str) -> Result<(), Failed> {
    if pointer.is_null() {
        return Err(Failed::argument(format!("{name} is NULL")));
    }
    if !pointer.is_aligned() {
        return Err(Failed::argument(format!(
            "{name} does not lie at a multiple of {} bytes, as its type has to",
            align_of::<T>()
        )));
    }
    Ok(())
}

fn fits<T>(count: usize, name: &str) -> Result<(), Failed> {
    let bytes = count.checked_mul(size_of::<T>());
    match bytes {
        Some(bytes) if isize::try_from(bytes).is_ok() => Ok(()),
        _ => Err(Failed::argument(format!(
            "{name} cannot have {count} elements"
        ))),
    }
}

#[cfg(test)]
mod tests {
    use std::ffi::CStr;

    use super::*;
    use crate::failed::{retime_error, retime_error_exit_code};

    #[test]
    fn a_panic_goes_no_further() {
        let status = guarded(|| panic!("as in {}", "a defect"));
        assert_eq!((status, retime_error_exit_code()), (Status::Defect, 2));
        // SAFETY: a text that stays until the next failure.
        let said = unsafe { CStr::from_ptr(retime_error()) };
        assert_eq!(
            said.to_str(),
            Ok("as in a defect; this is a defect of retime")
        );
        // A text that C cannot have is one all the same.
        guarded(|| Err(Failed::argument("a\0b")));
        // SAFETY: as above.
        let said = unsafe { CStr::from_ptr(retime_error()) };
        assert_eq!(said.to_str(), Ok("a\u{fffd}b"));
    }

    #[test]
    fn pointers_that_cannot_be_right_are_refused() {
        let numbers = [0_u64; 2];
        let odd = numbers.as_ptr().wrapping_byte_add(1);
        // SAFETY: it is not followed.
        let refused = unsafe { seen(odd, "it") }.unwrap_err();
        assert_eq!(refused.status, Status::Argument);
        assert!(
            refused.message.contains("multiple of 8 bytes"),
            "{}",
            refused.message
        );
        // SAFETY: as above.
        assert!(unsafe { row(numbers.as_ptr(), usize::MAX / 4, "they") }.is_err());
        // SAFETY: there are none.
        let none = unsafe { row::<u64>(std::ptr::null(), 0, "they") };
        assert!(none.unwrap().is_empty());
    }
}
