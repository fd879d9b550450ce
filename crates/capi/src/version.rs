//! The version of the library that runs.

use std::ffi::c_char;

/// The version of the library, such as "0.1.0". That of the header is `RETIME_VERSION`.
#[unsafe(no_mangle)]
pub extern "C" fn retime_version() -> *const c_char {
    const VERSION: &str = concat!(env!("CARGO_PKG_VERSION"), "\0");
    VERSION.as_ptr().cast()
}
