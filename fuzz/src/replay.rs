//! Each target holds on its seeds, on what the crate's own tests read, and on what was found once.

use std::path::{Path, PathBuf};

pub(crate) fn files(folder: &Path) -> Vec<PathBuf> {
    let Ok(entries) = std::fs::read_dir(folder) else { return Vec::new() };
    let mut files = Vec::new();
    for path in entries.map(|entry| entry.unwrap().path()) {
        if path.is_dir() { files.extend(self::files(&path)) } else { files.push(path) }
    }
    files.sort();
    files
}

#[test]
fn every_target_holds_on_what_is_known() {
    let root = Path::new(env!("CARGO_MANIFEST_DIR"));
    for (target, check) in crate::TARGETS {
        for folder in
            [root.join("seeds").join(target), root.join("regressions").join(target), root.join("../fixtures")]
        {
            for file in files(&folder) {
                let input = std::fs::read(&file).unwrap();
                let held = std::panic::catch_unwind(|| check(&input));
                assert!(held.is_ok(), "{target} fails on {}", file.display());
            }
        }
    }
}
