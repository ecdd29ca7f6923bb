"""Places in Swift sources where a fault can be put in, and the faults."""
import os
import random
import re

# Macros (which run in the compiler), C modules, and main files.
LEFT_OUT = re.compile(r"^CoreDataC[A-Z]|Macros|Expansion|^SwiftDataM|codegen|^coredata-")
# An operand that needs no parentheses.
OPERAND = r"[\w.]+(?:\(\))?"
BEFORE = r"(?<=[(,{] )|(?<=[(\[])|(?<=\bif )|(?<=\bguard )|(?<=\bwhere )|(?<=&& )|(?<=\|\| )|(?<=\breturn )"
AFTER = r"(?=\)|\]|,| \{| else\b| &&| \|\||$| \})"
COMPARISON = re.compile(rf"(?:{BEFORE})({OPERAND}) (<|<=|>|>=) ({OPERAND}){AFTER}")
CONNECTION = re.compile(rf"(?:{BEFORE})(!?{OPERAND}) (&&|\|\|) (!?{OPERAND}){AFTER}")
STEP = re.compile(r" ([+-]) 1(?![\w.])")
CONDITION = re.compile(r"^(\s*(?:\} else )?(?:if|guard) )([^{]+?)( else \{.*| \{.*)$")
CALL = re.compile(r"^(\s*)((?:try )?[a-z_][\w.!?]*\(.*\))$")
ASSIGNMENT = re.compile(r"^(\s*)([a-z_][\w.!?]* (?:=|\+=|-=) .+)$")
RETURN = re.compile(r"^(\s*return )(true|false)$")
DECLARATION = re.compile(r"^\s*(?:@\w+(?:\([^)]*\))? )*(?:(?:public|package|internal|private|fileprivate|final|open|override|static|class|mutating|nonisolated|convenience|required) )*(func|init|var|subscript|deinit|get|set|case|let)\b")
NOT_A_CALL = re.compile(
    r"^(?:try )?(?:super|self\.init|init|return|precondition|assert|fatalError|programmerError|preconditionFailure|defer|case|if|guard|switch|while|for|let|var|func|throw|print|withExtendedLifetime|await)\b|reserveCapacity|makeRoom\(")
OTHER = {"<": "<=", "<=": "<", ">": ">=", ">=": ">", "&&": "||", "||": "&&"}


class Fault:
    """One fault at one place: what a line is replaced by, with the switch as MUTANT."""

    def __init__(self, file, line, kind, old, new):
        self.file, self.line, self.kind, self.old, self.new = file, line, kind, old, new
        self.number = 0

    def __str__(self):
        return f"{self.file}:{self.line}: {self.kind}: {self.old.strip()}"

    @property
    def module(self):
        return self.file.split("/")[1]

    @property
    def key(self):
        """What names the fault while lines move."""
        return f"{self.file}|{self.kind}|{self.old.strip()}"


def shipped(root):
    """The modules that programs and tools are made of."""
    return [name for name in sorted(os.listdir(os.path.join(root, "Sources"))) if not LEFT_OUT.search(name)]


def _is_balanced(text):
    depth = 0
    for character in re.sub(r'"(?:\\.|[^"\\])*"', '""', text):
        depth += {"(": 1, "[": 1, "{": 1, ")": -1, "]": -1, "}": -1}.get(character, 0)
        if depth < 0:
            return False
    return depth == 0


def _conditions(line):
    """Inverts the first clause of a condition."""
    found = CONDITION.match(line)
    if not found:
        return
    start, text, rest = found.groups()
    clause, depth = "", 0
    for character in text:
        depth += {"(": 1, "[": 1, ")": -1, "]": -1}.get(character, 0)
        if character == "," and depth == 0:
            break
        clause += character
    if re.match(r"(let|var|case|#|try\?)", clause) or not _is_balanced(clause) or clause.endswith(("&&", "||")):
        return
    yield "condition inverted", f"{start}({clause}) != MUTANT{text[len(clause):]}{rest}"


def _statements(lines, index):
    """Leaves a statement out."""
    line = lines[index]
    before, after = lines[index - 1].rstrip() if index else "", lines[index + 1].strip() if index + 1 < len(lines) else ""
    # The only statement of a body may be its value; a line may be a part of a longer statement.
    if before.endswith("{") and after.startswith("}") or not before.endswith(("{", ")", "}", ";")) and not re.search(r"[\w\]\"]$", before):
        return
    if before.endswith((",", "(", "[", "=", "->", "else", "return", "??", "&&", "||")) or before.strip().startswith(("@", "#")) and not before.strip().startswith("#if"):
        return
    if after.startswith((".", "+", "-", "??", "&&", "||", "?", ":", ",", "as ", "{", "==", "!=", "/", "*", "|", "&")):
        return
    for pattern, kind in ((CALL, "call left out"), (ASSIGNMENT, "assignment left out")):
        found = pattern.match(line)
        if not found or not _is_balanced(found.group(2)) or NOT_A_CALL.search(found.group(2)):
            continue
        if kind == "assignment left out" and _declaration(lines, index) in ("init", "case", "let", None):
            continue
        yield kind, f"{found.group(1)}if !MUTANT {{ {found.group(2)} }}"
        return


def _declaration(lines, index):
    """The kind of the declaration that a line is in."""
    for number in range(index - 1, -1, -1):
        found = DECLARATION.match(lines[number])
        if found and (lines[number].rstrip().endswith("{") or found.group(1) in ("init", "case")):
            return found.group(1)
    return None


def _faults(lines, index):
    line = lines[index]
    code = line.split(" //")[0].rstrip()
    if not code.strip() or code.lstrip().startswith(("//", "*", "@", "#", "import")) or '"""' in code or "MUTANT" in code:
        return
    yield from _conditions(code)
    yield from _statements([code if number == index else text for number, text in enumerate(lines)], index)
    plain = re.sub(r'"(?:\\.|[^"\\])*"', lambda text: '"' + "·" * (len(text.group()) - 2) + '"', code)
    for found in COMPARISON.finditer(plain):
        left, operator, right = found.groups()
        yield "boundary", f"{code[:found.start()]}(MUTANT ? {left} {OTHER[operator]} {right} : {left} {operator} {right}){code[found.end():]}"
    for found in CONNECTION.finditer(plain):
        left, operator, right = found.groups()
        yield "and for or", f"{code[:found.start()]}(MUTANT ? {left} {OTHER[operator]} {right} : {left} {operator} {right}){code[found.end():]}"
    for found in STEP.finditer(plain):
        yield "off by one", f"{code[:found.start()]} {found.group(1)} (MUTANT ? 2 : 1){code[found.end():]}"
    found = RETURN.match(code)
    if found:
        yield "result inverted", f"{found.group(1)}{found.group(2)} != MUTANT"


def places(root, modules):
    """All faults that are possible in some modules; several of a line among them."""
    equivalent = set()
    with open(os.path.join(root, "Scripts", "lib", "mutation", "equivalent.txt")) as file:
        for line in file:
            if "|" in line and not line.startswith("#"):
                equivalent.add("|".join(line.rstrip("\n").split("|")[:3]))
    found = []
    for module in modules:
        for directory, _, names in sorted(os.walk(os.path.join(root, "Sources", module))):
            for name in sorted(names):
                if not name.endswith(".swift"):
                    continue
                path = os.path.join(directory, name)
                with open(path) as file:
                    lines = file.read().split("\n")
                relative = os.path.relpath(path, root)
                inlinable, is_text = None, False
                for index, line in enumerate(lines):
                    # A page's script and other long texts are no Swift.
                    if line.count('"""') % 2:
                        is_text = not is_text
                        continue
                    if is_text:
                        continue
                    # What is compiled into other modules has no switch.
                    if "@inlinable" in line or "@_transparent" in line or "@_alwaysEmitIntoClient" in line:
                        inlinable = len(line) - len(line.lstrip())
                    if inlinable is not None:
                        if line.startswith(" " * inlinable + "}") or line.rstrip().endswith("}") and "{" in line and "@inlinable" in line:
                            inlinable = None
                        continue
                    for kind, new in _faults(lines, index):
                        fault = Fault(relative, index + 1, kind, line, new)
                        if fault.key not in equivalent:
                            found.append(fault)
    return found


def chosen(places, count, seed):
    """As many as are asked for, at most one of a line."""
    chooser = random.Random(seed)
    order = list(places)
    chooser.shuffle(order)
    taken, lines = [], set()
    for fault in order:
        if len(taken) == count:
            break
        if (fault.file, fault.line) not in lines:
            lines.add((fault.file, fault.line))
            taken.append(fault)
    taken.sort(key=lambda fault: (fault.file, fault.line))
    for number, fault in enumerate(taken, 1):
        fault.number = number
    return taken
