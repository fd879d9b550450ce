//! Gives the shared library the name by which programs look for it: its number changes when
//! programs that were linked with an earlier one cannot use it.

fn main() {
    println!("cargo:rerun-if-changed=build.rs");
    // Elsewhere libraries are not named like that.
    if std::env::var("CARGO_CFG_TARGET_OS").is_ok_and(|it| it == "linux") {
        println!("cargo:rustc-cdylib-link-arg=-Wl,-soname,libretime.so.0");
    }
}
