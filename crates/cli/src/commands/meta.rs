//! `retime completions` and `retime man`, made from the argument definitions.

use std::path::Path;

use crate::error::CliError;
use crate::report::to_stdout;

/// Prints a completion script.
pub(crate) fn completions(
    shell: clap_complete::Shell,
    mut command: clap::Command,
) -> Result<u8, CliError> {
    let mut script = Vec::new();
    clap_complete::generate(shell, &mut command, "retime", &mut script);
    to_stdout(&String::from_utf8_lossy(&script))?;
    Ok(0)
}

/// Prints the manual page, with one section per command.
pub(crate) fn man(command: &clap::Command) -> Result<u8, CliError> {
    let mut page = Vec::new();
    let render = |page: &mut Vec<u8>| -> std::io::Result<()> {
        clap_mangen::Man::new(command.clone()).render(page)?;
        for sub in command
            .get_subcommands()
            .filter(|sub| sub.get_name() != "help")
        {
            let titled = sub
                .clone()
                .display_name(format!("retime {}", sub.get_name()))
                .bin_name(format!("retime {}", sub.get_name()))
                .disable_help_flag(true);
            let man = clap_mangen::Man::new(titled);
            man.render_name_section(page)?;
            man.render_synopsis_section(page)?;
            man.render_description_section(page)?;
            man.render_options_section(page)?;
        }
        Ok(())
    };
    render(&mut page).map_err(|error| CliError::io(Path::new("standard output"), error))?;
    let mut page = String::from_utf8_lossy(&page).into_owned();
    let names = command.get_subcommands().map(clap::Command::get_name);
    for name in names.chain(["help"]) {
        // Each has a section here, or none, and no page.
        page = page.replace(&format!(r"retime\-{name}(1)"), &format!("retime {name}"));
    }
    to_stdout(&page)?;
    Ok(0)
}
