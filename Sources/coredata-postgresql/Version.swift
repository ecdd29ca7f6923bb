/// The version of the package. `Scripts/release` reads it here, and requires that CHANGELOG.md has a section for it.
let packageVersion = "0.2.0"
