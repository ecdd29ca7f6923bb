"""The copy of the sources that the faults are compiled into."""
import os
import re
import subprocess
import sys

SWITCH = """#if canImport(Glibc)
import Glibc
#endif

/// The fault that is switched on, and where those are written down that a process has come by.
private let _mutantNumber: Int = getenv("COREDATA_MUTANT").map { Int(atoi($0)) } ?? 0
private let _mutantLog: String? = getenv("COREDATA_MUTANT_LOG").map { String(cString: $0) }
nonisolated(unsafe) private let _mutantsSeen: UnsafeMutablePointer<UInt8> = {
  let seen = UnsafeMutablePointer<UInt8>.allocate(capacity: 65_536)
  seen.initialize(repeating: 0, count: 65_536)
  return seen
}()

func _isMutant(_ number: Int) -> Bool {
  if let log = _mutantLog, _mutantsSeen[number] == 0 {
    _mutantsSeen[number] = 1
    let file = open(log + "/\\(getpid())", O_WRONLY | O_APPEND | O_CREAT, 0o666)
    if file >= 0 {
      let line = "\\(number)\\n"
      _ = line.withCString { write(file, $0, strlen($0)) }
      close(file)
    }
  }
  return _mutantNumber == number
}
"""


def say(text):
    print(text, file=sys.stderr, flush=True)


def changed_lines(root, commit):
    """The lines of each file that differ from a commit."""
    text = subprocess.run(["git", "-C", root, "diff", "-U0", commit, "--", "Sources"], capture_output=True, text=True, check=True).stdout
    lines, file = {}, None
    for line in text.split("\n"):
        if line.startswith("+++ b/"):
            file = line[6:]
        found = re.match(r"@@ -\S+ \+(\d+)(?:,(\d+))? @@", line)
        if found and file:
            first, count = int(found.group(1)), int(found.group(2) or 1)
            lines.setdefault(file, set()).update(range(first, first + count))
    return lines


class Tree:
    def __init__(self, root):
        self.root = root
        self.path = os.path.join(root, ".build", "mutants")

    def _write(self, relative, content):
        """Writes a file if its content differs, so that what has not changed is not built again."""
        path = os.path.join(self.path, relative)
        try:
            with open(path, "rb") as file:
                if file.read() == content:
                    return
        except OSError:
            os.makedirs(os.path.dirname(path), exist_ok=True)
        with open(path, "wb") as file:
            file.write(content)

    def _copy(self, faults):
        names = subprocess.run(["git", "-C", self.root, "ls-files", "-z", "-co", "--exclude-standard"], capture_output=True, check=True)
        files = {name for name in names.stdout.decode().split("\0") if name and os.path.isfile(os.path.join(self.root, name))}
        by_file = {}
        for fault in faults:
            by_file.setdefault(fault.file, []).append(fault)
        written = set(files)
        for name in sorted(files):
            with open(os.path.join(self.root, name), "rb") as file:
                content = file.read()
            if name in by_file:
                lines = content.decode().split("\n")
                for fault in by_file[name]:
                    lines[fault.line - 1] = fault.new.replace("MUTANT", f"_isMutant({fault.number})")
                content = "\n".join(lines).encode()
            self._write(name, content)
            mode = os.stat(os.path.join(self.root, name)).st_mode & 0o777
            os.chmod(os.path.join(self.path, name), mode)
        for module in {fault.module for fault in faults}:
            name = f"Sources/{module}/MutantSwitch.swift"
            self._write(name, SWITCH.encode())
            written.add(name)
        for top in ("Sources", "Tests"):
            for directory, _, found in os.walk(os.path.join(self.path, top)):
                for name in found:
                    path = os.path.join(directory, name)
                    if os.path.relpath(path, self.path) not in written:
                        os.remove(path)
        # The collections beside the project, which some tests read.
        shared, link = os.path.join(self.root, "..", "shared"), os.path.join(self.path, "..", "shared")
        if os.path.isdir(shared) and not os.path.lexists(link):
            os.symlink(os.path.realpath(shared), link)

    def build(self, faults):
        """Compiles the faults in. Those that do not compile are left out."""
        faults = list(faults)
        for attempt in range(8):
            self._copy(faults)
            say(f"Building {len(faults)} faults. The first build takes ten minutes ...")
            done = subprocess.run(["swift", "build", "--package-path", self.path, "--build-tests"], capture_output=True, text=True)
            if done.returncode == 0:
                return faults
            wrong = set()
            for path, line in re.findall(r"^(/[^:\n]+\.swift):(\d+):\d+: error: ", done.stdout + done.stderr, re.MULTILINE):
                wrong.add((os.path.relpath(os.path.realpath(path), os.path.realpath(self.path)), int(line)))
            bad = [fault for fault in faults if (fault.file, fault.line) in wrong]
            if not bad:
                files = {file for file, _ in wrong}
                bad = [fault for fault in faults if fault.file in files]
            if not bad:
                sys.exit(done.stdout[-4000:] + done.stderr[-4000:] + "\nerror: the build failed; see above.")
            for fault in bad:
                say(f"  does not compile: {fault}")
            faults = [fault for fault in faults if fault not in bad]
        sys.exit("error: faults that do not compile are found again and again.")
