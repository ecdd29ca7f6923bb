"""Tries faults on the tests that reach them."""
import concurrent.futures
import glob
import os
import re
import shutil
import subprocess
import sys
import tempfile
import time

from copying import say


class Trial:
    def __init__(self, tree, faults, suites, results):
        self.tree, self.faults, self.choice, self.results = tree, faults, suites, results
        self.program = glob.glob(os.path.join(tree.path, ".build", "debug", "*PackageTests.xctest"))[0]
        place = "/dev/shm" if os.path.isdir("/dev/shm") else None
        self.work = tempfile.mkdtemp(prefix="coredata-mutants.", dir=place)
        os.chmod(self.work, 0o1777)
        self.times, self.reached = {}, {}

    def _suites(self):
        listed = subprocess.run(["swift", "test", "list", "--skip-build", "--package-path", self.tree.path], capture_output=True, text=True, check=True)
        suites = set()
        for line in listed.stdout.split("\n"):
            found = re.match(r"(\w+\.\w+)/", line)
            if found and re.search(self.choice, found.group(1)):
                suites.add(found.group(1))
        return sorted(suites)

    def _run(self, suites, number=0, log=None, limit=900.0, on_server=False):
        """Runs suites in a process, which may find all stores of files on a server. Returns whether they pass, and the seconds."""
        place = tempfile.mkdtemp(dir=self.work)
        os.chmod(place, 0o1777)
        environment = dict(os.environ, COREDATA_MUTANT=str(number), COREDATA_CONCURRENCY_DEBUG="1", TMPDIR=place, SWIFT_BACKTRACE="enable=no")
        if log:
            environment["COREDATA_MUTANT_LOG"] = log
        if on_server:
            environment["COREDATA_TEST_POSTGRESQL"] = "1"
        started = time.monotonic()
        choice = "|".join(rf"^{re.escape(suite)}/" for suite in suites)
        process = subprocess.Popen(
            [self.program, "--testing-library", "swift-testing", "--filter", choice], cwd=self.tree.path, env=environment,
            stdin=subprocess.DEVNULL, stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL, start_new_session=True)
        try:
            passes = process.wait(limit) == 0
        except subprocess.TimeoutExpired:
            passes = False
        try:
            os.killpg(process.pid, 9)
        except ProcessLookupError:
            pass
        process.wait()
        shutil.rmtree(place, ignore_errors=True)
        return passes, time.monotonic() - started

    def _map(self, suite):
        log = tempfile.mkdtemp(dir=self.work)
        os.chmod(log, 0o1777)
        passes, seconds = self._run([suite], log=log)
        numbers = set()
        for name in os.listdir(log):
            with open(os.path.join(log, name)) as file:
                numbers.update(int(line) for line in file if line.strip())
        shutil.rmtree(log, ignore_errors=True)
        return suite, passes, seconds, numbers

    def _try(self, fault):
        result, by = self._try_suites(fault)
        if result == "noticed" or not fault.module.startswith("CoreDataPostgreSQL") or self.choice:
            return result, by
        # What holds for files holds on a server: these suites run there only when that is asked for.
        passes, _ = self._run([suite for suite in self.times if suite.startswith("CoreDataTests.")], fault.number, on_server=True)
        return (result, by) if passes else ("noticed", "the behaviours of CoreDataTests on a server")

    def _try_suites(self, fault):
        suites = sorted((suite for suite, numbers in self.reached.items() if fault.number in numbers), key=self.times.get)
        if not suites:
            return "not reached", ""
        # The shortest first, and then ever more at once.
        budget = 5.0
        while suites:
            group, seconds = [], 0.0
            while suites and (not group or seconds + self.times[suites[0]] <= budget):
                seconds += self.times[suites[0]]
                group.append(suites.pop(0))
            passes, _ = self._run(group, fault.number, limit=60 + 3 * seconds)
            if not passes:
                return "noticed", group[0] if len(group) == 1 else f"{group[0]} or {len(group) - 1} more"
            budget *= 4
        return "survived", ""

    def run(self):
        """Returns the faults that nothing notices."""
        try:
            return self._verdicts()
        finally:
            shutil.rmtree(self.work, ignore_errors=True)

    def _verdicts(self):
        decided = {}
        if self.results and os.path.exists(self.results):
            with open(self.results) as file:
                for line in file:
                    verdict, key = line.rstrip("\n").split("\t")[:2]
                    decided[key] = verdict
        suites = self._suites()
        say(f"Running {len(suites)} suites, one at a time for each processor ...")
        workers = os.cpu_count() or 1
        with concurrent.futures.ThreadPoolExecutor(workers) as pool:
            for done, (suite, passes, seconds, numbers) in enumerate(pool.map(self._map, suites), 1):
                if not passes:
                    say(f"  left out, since it fails without a fault: {suite}")
                    continue
                self.times[suite], self.reached[suite] = seconds, numbers
                if done % 50 == 0:
                    say(f"  {done} suites")
        verdicts = []
        with concurrent.futures.ThreadPoolExecutor(workers) as pool:
            def verdict(fault):
                return (decided[fault.key], "") if fault.key in decided else self._try(fault)
            for done, (fault, (result, by)) in enumerate(zip(self.faults, pool.map(verdict, self.faults)), 1):
                verdicts.append((fault, result))
                say(f"{done}/{len(self.faults)} {result}{' by ' + by if by else ''}: {fault}")
                if self.results and fault.key not in decided:
                    with open(self.results, "a") as file:
                        file.write(f"{result}\t{fault.key}\t{by}\n")
        for module in sorted({fault.module for fault in self.faults}) + [None]:
            mine = [result for fault, result in verdicts if module in (None, fault.module)]
            noticed = mine.count("noticed")
            print(f"{module or 'all'}: {noticed} of {len(mine)} noticed ({100 * noticed // len(mine)} %)")
        survivors = [(fault, result) for fault, result in verdicts if result != "noticed"]
        for fault, result in survivors:
            print(f"{result}: {fault}\n    {fault.new.strip()}")
        sys.stdout.flush()
        return survivors
