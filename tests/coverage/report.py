#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""The library's line coverage by folder, and whether each line that no test reaches has its reason.

usage: report.py OBJECTS LIST [DRAFT]
  OBJECTS  the folder of the library's .gcno and .gcda files
  LIST     the reasons (tests/coverage/uncovered.txt says what it holds)
  DRAFT    where to write the lines without a reason, in the list's form
Exits 1 below 95 %, at a line without a reason, and at an entry that no line needs."""
import collections, json, pathlib, subprocess, sys

LEAST = 95
top = pathlib.Path.cwd()


def read_counts(objects):
    """{path: {number: (function, count)}}: of a header, the most that any file that includes it counts."""
    notes = sorted(str(p) for p in pathlib.Path(objects).rglob("*.gcno"))
    if not notes:
        sys.exit(f"report: no .gcno below {objects}")
    out = subprocess.run(["gcov", "--json-format", "--stdout", *notes], capture_output=True, text=True)
    if out.returncode:
        sys.exit(f"report: gcov: {out.stderr[-500:]}")
    files = collections.defaultdict(dict)
    for document in out.stdout.splitlines():
        for file in json.loads(document)["files"]:
            path = pathlib.Path(file["file"])
            if path.is_absolute():
                if not path.is_relative_to(top):
                    continue
                path = path.relative_to(top)
            lines = files[str(path)]
            for line in file["lines"]:
                # Where a function was inlined, the line is told as its caller's.
                homes = [f["name"] for f in file["functions"] if f["start_line"] <= line["line_number"] <= f["end_line"]]
                function = homes[0] if homes else line.get("function_name", "?")
                count = max(line["count"], lines.get(line["line_number"], ("", 0))[1])
                lines[line["line_number"]] = (function, count)
    return files


def read_list(path):
    """[(where in the list, file, function, text, whether it must be needed)]"""
    entries, reason, needed, begun = [], None, True, False
    for number, line in enumerate(pathlib.Path(path).read_text().splitlines(), 1):
        if not line.strip() or line[0] == "#":
            continue
        if line.startswith("= "):
            reason = f"{reason} {line[2:]}" if begun else line[2:]
            needed, begun = not reason.startswith("sometimes"), True
            continue
        begun = False
        words = line.split(None, 2)
        if reason is None or len(words) < 2 or (len(words) < 3 and words[1] != "*"):
            sys.exit(f"report: {path}:{number}: expected '= REASON' or 'FILE FUNCTION TEXT'")
        entries.append((number, words[0], words[1], words[2].strip() if len(words) == 3 else "*", needed))
    return entries


def print_folders(files):
    sums = collections.defaultdict(lambda: [0, 0])
    for path, lines in files.items():
        for name in (str(pathlib.PurePath(path).parent), "total"):
            sums[name][0] += sum(count > 0 for _, count in lines.values())
            sums[name][1] += len(lines)
    for name, (hit, lines) in sorted(sums.items(), key=lambda s: (s[0] == "total", s[0])):
        print(f"{name:24} {hit:6} of {lines:6} lines {100 * hit / lines:6.1f} %")
    return 100 * sums["total"][0] / sums["total"][1]


def main(objects, list_path, draft=None):
    files, entries = read_counts(objects), read_list(list_path)
    excluded = {file for _, file, function, _, _ in entries if function == "*"}
    used = {number for number, file, function, _, _ in entries if function == "*" and file in files}
    percent = print_folders({path: lines for path, lines in files.items() if path not in excluded})
    missing, reasoned = [], 0
    for path, lines in sorted(files.items()):
        if path in excluded:
            continue
        source = pathlib.Path(path).read_text().splitlines()
        for number, (function, count) in sorted(lines.items()):
            if count:
                continue
            text = source[number - 1].strip()
            found = [e[0] for e in entries if e[1] == path and e[2] == function and e[3] in ("*", text)]
            used.update(found)
            reasoned += bool(found)
            if not found:
                missing.append(f"{path} {function} {text}")
                print(f"{path}:{number}: {function}: no test reaches, and no reason is given for: {text}")
    stale = [e for e in entries if e[4] and e[0] not in used]
    for number, file, function, text, _ in stale:
        print(f"{list_path}:{number}: every such line is reached, or is gone: {file} {function} {text}")
    if draft:
        pathlib.Path(draft).write_text("".join(f"{line}\n" for line in missing))
    print(f"{percent:.1f} % of the lines; {reasoned} have a reason for not being reached, {len(missing)} have none, "
          f"{len(stale)} entries are stale")
    return percent < LEAST or bool(missing) or bool(stale)


sys.exit(main(*sys.argv[1:]))
