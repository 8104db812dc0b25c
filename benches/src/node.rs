//! Programs in Node, if that is there.

use std::ffi::OsStr;
use std::path::Path;
use std::process::Command;

/// What a program of `node/` prints; or why it can't be run. A package that it uses and that isn't there makes
/// `npm ci` install all of them.
pub(crate) fn run<A: AsRef<OsStr>>(
    package: &str,
    program: &[&str],
    arguments: impl IntoIterator<Item = A>,
) -> Result<String, String> {
    let folder = Path::new(env!("CARGO_MANIFEST_DIR")).join("node");
    if !folder.join("node_modules").join(package).exists() {
        output("npm", Command::new("npm").arg("ci").current_dir(&folder))?;
    }
    output("node", Command::new("node").args(program).args(arguments).current_dir(&folder))
}

fn output(name: &str, command: &mut Command) -> Result<String, String> {
    match command.output() {
        Ok(output) if output.status.success() => Ok(String::from_utf8_lossy(&output.stdout).into_owned()),
        Ok(output) => Err(format!("{name}: {}", String::from_utf8_lossy(&output.stderr))),
        Err(error) => Err(format!("{name} can't be run: {error}")),
    }
}
