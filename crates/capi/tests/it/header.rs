//! The header: made of the sources, and usable alone by each language.

use std::fs;

use crate::machine::{Language, has, here, run};

/// `UPDATE_HEADER=1` writes it.
#[test]
fn the_header_is_that_of_the_sources() {
    let mut config = cbindgen::Config::from_file(here().join("cbindgen.toml")).unwrap();
    config.documentation = true;
    let made = cbindgen::generate_with_config(here(), config).unwrap();
    let mut text = Vec::new();
    made.write(&mut text);
    let text = String::from_utf8(text).unwrap();
    let file = here().join("include/retime.h");
    if std::env::var_os("UPDATE_HEADER").is_some() {
        fs::write(&file, &text).unwrap();
    }
    let kept = fs::read_to_string(&file).unwrap();
    assert!(
        kept == text,
        "include/retime.h is not that of the sources: UPDATE_HEADER=1 cargo test writes it"
    );
}

#[test]
fn the_version_is_that_of_the_crate() {
    let header = fs::read_to_string(here().join("include/retime.h")).unwrap();
    let version = env!("CARGO_PKG_VERSION");
    let parts: Vec<&str> = version.split('.').collect();
    let mut wanted = vec![format!("#define RETIME_VERSION \"{version}\"")];
    for (name, part) in ["MAJOR", "MINOR", "PATCH"].into_iter().zip(parts) {
        wanted.push(format!("#define RETIME_VERSION_{name} {part}"));
    }
    for line in wanted {
        assert!(header.lines().any(|it| it == line), "{line}");
    }
}

/// Nothing else is included before it, and it is included twice.
#[test]
fn the_header_alone_compiles() {
    let into = tempfile::tempdir().unwrap();
    for (language, standards) in [
        (Language::C, ["-std=c99", "-std=c11"]),
        (Language::Cpp, ["-std=c++11", "-std=c++17"]),
    ] {
        if !has(language.compiler()) {
            continue;
        }
        let name = if language == Language::C {
            "alone.c"
        } else {
            "alone.cpp"
        };
        let source = into.path().join(name);
        let text = "#include <retime.h>\n#include <retime.h>\n\
            typedef char one_stamp_is_16_bytes[sizeof(retime_stamp) == RETIME_STAMP_BYTES ? 1 : -1];\n\
            int main(void) { one_stamp_is_16_bytes it = {0}; return it[0]; }\n";
        fs::write(&source, text).unwrap();
        for standard in standards {
            let mut compile = language.compile();
            compile.args([standard, "-Wconversion", "-Wstrict-aliasing", "-c"]);
            compile
                .arg(&source)
                .arg("-o")
                .arg(into.path().join("alone.o"));
            run(&mut compile);
        }
    }
}

/// The module for Fortran has each function and each number of the header.
#[test]
fn the_module_of_fortran_has_all() {
    let header = fs::read_to_string(here().join("include/retime.h")).unwrap();
    let module = fs::read_to_string(here().join("fortran/retime.f90")).unwrap();
    for function in crate::symbols::declared(&header) {
        let bound = format!("bind(C, name=\"{function}\")");
        assert!(module.contains(&bound), "{function}");
        let public = format!(" {function}");
        assert!(module.contains(&public), "{function} is not public");
    }
    let numbers = header
        .lines()
        .filter_map(|line| line.trim().strip_suffix(','));
    let numbers: Vec<_> = numbers.filter_map(|it| it.split_once(" = ")).collect();
    assert!(numbers.len() > 15);
    for (name, number) in numbers {
        let wanted = format!("parameter, public :: {name} = {number}\n");
        assert!(module.contains(&wanted), "{name} = {number}");
    }
    if has(Language::Fortran.compiler()) {
        let into = tempfile::tempdir().unwrap();
        let mut compile = Language::Fortran.compile();
        compile.arg("-J").arg(into.path());
        compile.arg("-c").arg(here().join("fortran/retime.f90"));
        run(compile.arg("-o").arg(into.path().join("retime.o")));
    }
}
