"""The command line: options, exit codes. What a command does stands in `commands/`, loaded when it is called."""

from __future__ import annotations

import argparse
import importlib
import io
import os
import sys
import traceback
from collections.abc import Sequence
from typing import NoReturn, TypeAlias

from ragcov import __version__
from ragcov.commands import EXIT_FAILED, EXIT_INTERRUPTED, EXIT_OK, EXIT_USAGE
from ragcov.commands.outputs import check_outputs
from ragcov.errors import DataError, RagcovError, UsageError

__all__ = ["build_parser", "main"]

_EPILOG = """\
exit codes:
  0  all well
  1  under the threshold
  2  bad usage or bad input; nothing was judged
  3  rows failed, or no row could be judged; also a fault of ragcov itself
"""

_RUN_HELP = 'a results file (--out), the id of a kept run, or "latest"'


class _Parser(argparse.ArgumentParser):
    def error(self, message: str) -> NoReturn:
        self.exit(EXIT_USAGE, f"ragcov: {message}\nTry: {self.prog} --help\n")


# What add_subparsers returns has no public name.
_Commands: TypeAlias = "argparse._SubParsersAction[_Parser]"  # pyright: ignore[reportPrivateUsage]


def build_parser() -> argparse.ArgumentParser:
    """The parser of the `ragcov` command."""
    parser = _Parser(
        prog="ragcov",
        description="Coverage for retrieval: which claims of the right answer did your retriever bring back?",
        epilog=_EPILOG,
        formatter_class=argparse.RawDescriptionHelpFormatter,
    )
    parser.add_argument("--version", action="version", version=f"ragcov {__version__}")
    commands = parser.add_subparsers(dest="command", metavar="COMMAND", required=True, parser_class=_Parser)
    _add_run(commands)
    _add_compare(commands)
    _add_diagnose(commands)
    _add_agree(commands)
    _add_label(commands)
    _add_curve(commands)
    _add_baseline(commands)
    _add_stored(commands)
    return parser


def _add_run(commands: _Commands) -> None:
    run = commands.add_parser(
        "run",
        help="score a dataset",
        description="Scores a dataset and prints a row for each sample, the totals, and the claims that were missed.",
        epilog=_EPILOG,
        formatter_class=argparse.RawDescriptionHelpFormatter,
    )
    run.add_argument("data", metavar="DATA", help="JSONL, JSON, CSV, TSV or Parquet file of samples")
    run.add_argument("--judge", metavar="MODEL", help='"offline" (the default) or "provider/model"')
    run.add_argument(
        "--scorer",
        metavar="NAME",
        action="append",
        help="what to measure, again for more: context-recall (the default), context-precision, context-relevance or "
        "faithfulness",
    )
    run.add_argument("--scale", type=float, default=1.0, metavar="X", help="the score's upper end (default 1)")
    run.add_argument("--target", metavar="MODULE:NAME", help="the system under test; asked with each sample's input")
    run.add_argument("--out", metavar="FILE", help="write the results as JSONL")
    run.add_argument("--csv", metavar="FILE", help="write a table for people")
    run.add_argument("--html", metavar="FILE", help="write the coverage report, to be opened in a browser")
    run.add_argument("--junit", metavar="FILE", help="write JUnit XML")
    run.add_argument("--github", action="store_true", help="write GitHub's step summary and print annotations")
    run.add_argument(
        "--json", action="store_true", help="print the totals as JSON, and nothing else on standard output"
    )
    run.add_argument("--fail-under", type=float, metavar="X", help="exit with 1 when a mean is below X")
    run.add_argument("--concurrency", type=int, default=8, metavar="N", help="rows at a time (default 8)")
    run.add_argument(
        "--timeout", type=float, default=120.0, metavar="SECONDS", help="the longest a row may take (default 120)"
    )
    run.add_argument(
        "--map",
        action="append",
        default=[],
        metavar="FIELD=COLUMN",
        help="where a field stands in the data: input=question_text; again for more",
    )
    run.add_argument("--skip-bad", action="store_true", help="leave out records that can't be read, naming each")
    run.add_argument("--quiet", action="store_true", help="print the totals only")
    run.add_argument(
        "--resume",
        metavar="RUN",
        help="go on with a run that was stopped or whose rows failed, without judging finished rows again",
    )
    run.add_argument("--no-store", action="store_true", help="don't keep the run")
    _add_store(run)


def _add_store(command: argparse.ArgumentParser) -> None:
    command.add_argument(
        "--store",
        metavar="PLACE",
        help="where runs and claims are kept: a directory, or postgresql+psycopg://user@host/database "
        "(default: RAGCOV_CACHE, else .ragcov)",
    )


def _add_stored(commands: _Commands) -> None:
    runs = commands.add_parser("runs", help="list the runs that are kept", description="Lists the runs, latest first.")
    show = commands.add_parser("show", help="print a run again", description="Prints a kept run as `ragcov run` did.")
    show.add_argument("run", metavar="RUN", help=_RUN_HELP)
    show.add_argument("--quiet", action="store_true", help="print the totals only")
    export = commands.add_parser(
        "export", help="write a run to files", description="Writes the rows of a kept run to files."
    )
    export.add_argument("run", metavar="RUN", help=_RUN_HELP)
    rescore = commands.add_parser(
        "rescore",
        help="new scores from the verdicts of a run",
        description="Computes scores and reasons anew from the verdicts of a run; no judge is asked. The result is "
        "kept as a new run.",
    )
    rescore.add_argument("run", metavar="RUN", help=_RUN_HELP)
    rescore.add_argument("--scale", type=float, required=True, metavar="X", help="the score's upper end")
    rescore.add_argument("--quiet", action="store_true", help="print the totals only")
    rescore.add_argument("--no-store", action="store_true", help="don't keep the new run")
    for command in (export, rescore):
        command.add_argument("--out", metavar="FILE", help="write the results as JSONL")
        command.add_argument("--csv", metavar="FILE", help="write a table for people")
    cache = commands.add_parser(
        "cache",
        help="claims that are kept for the next run",
        description="Shows or clears the claims that LLM judges extracted; runs are not touched.",
    )
    cache.add_argument("action", choices=("stats", "clear"), help="show what is kept, or forget it")
    for command in (runs, show, export, rescore, cache):
        _add_store(command)


def _add_curve(commands: _Commands) -> None:
    curve = commands.add_parser(
        "curve",
        help="recall at every cut-off k, from one run",
        description="Prints mean recall@k for every k, the smallest k that is enough, redundancy, and what each rank "
        "adds. Reads the verdicts of the run; no judge is asked.",
    )
    curve.add_argument("run", metavar="RUN", help=_RUN_HELP)
    curve.add_argument("--scorer", metavar="NAME", help="whose verdicts to read (default: context-recall)")
    curve.add_argument("--json", action="store_true", help="print the numbers as JSON")
    _add_store(curve)


def _add_compare(commands: _Commands) -> None:
    compare = commands.add_parser(
        "compare",
        help="is a run really better than another?",
        description="Compares runs sample by sample: difference of means with its interval, permutation test, effect "
        "size, and the claims that flipped.",
    )
    compare.add_argument(
        "runs", metavar="RUN", nargs="+", help="two runs or more; the first is what others are held to"
    )
    compare.add_argument("--scorer", metavar="NAME", action="append", help="this scorer only; again for more")
    compare.add_argument(
        "--fail-if-worse", action="store_true", help="exit with 1 when a run is worse than the first, beyond chance"
    )
    _add_store(compare)


def _add_diagnose(commands: _Commands) -> None:
    diagnose = commands.add_parser(
        "diagnose",
        help="why were claims missed?",
        description="Searches the whole corpus for each missed claim and says why it was missed: not in the corpus, "
        "not retrieved, retrieved below k, split across chunks, or contradicted.",
    )
    diagnose.add_argument("run", metavar="RUN", help="a run that scored context-recall")
    diagnose.add_argument(
        "--corpus",
        metavar="DIR_OR_JSONL",
        required=True,
        help='.txt and .md files, or JSONL of {"id", "text"} with "document" where wanted',
    )
    diagnose.add_argument("--judge", metavar="MODEL", help="who decides (default: the run's judge)")
    diagnose.add_argument("--k", type=int, metavar="N", help="your cut-off, when the run's contexts go on beyond it")
    diagnose.add_argument(
        "--ranking",
        metavar="FIELD",
        default="ranking",
        help="the samples' field that holds the full ranking, chunk ids or texts (default ranking)",
    )
    diagnose.add_argument(
        "--candidates", type=int, default=10, metavar="N", help="chunks to judge a claim (default 10)"
    )
    diagnose.add_argument("--concurrency", type=int, default=8, metavar="N", help="claims at a time (default 8)")
    diagnose.add_argument("--out", metavar="FILE", help="write the findings as JSONL")
    _add_store(diagnose)


def _add_agree(commands: _Commands) -> None:
    agree = commands.add_parser(
        "agree",
        help="can the judge be trusted?",
        description="Compares a run's verdicts with people's labels: accuracy, precision, recall and Cohen's kappa, "
        "the disagreements, and the run's recall corrected by the labels.",
    )
    agree.add_argument("run", metavar="RUN", help="a run that scored context-recall")
    agree.add_argument("labels", metavar="LABELS", help="CSV or JSONL with id, claim_id or claim, and label")
    _add_store(agree)


def _add_label(commands: _Commands) -> None:
    label = commands.add_parser(
        "label",
        help="label a run's claims by hand",
        description="Asks about a run's claims one by one, the most informative first, and keeps each answer at once. "
        "Called again, it goes on where it stopped.",
    )
    label.add_argument("run", metavar="RUN", help="a run that scored context-recall")
    label.add_argument("--out", metavar="FILE", default="labels.csv", help="CSV or JSONL (default labels.csv)")
    label.add_argument(
        "--against",
        metavar="RUN",
        help="a run of another judge: ask first where they differ (default: the offline judge)",
    )
    label.add_argument("--limit", type=int, metavar="N", help="stop after so many answers")
    _add_store(label)


def _add_baseline(commands: _Commands) -> None:
    baseline = commands.add_parser(
        "baseline",
        help="keep a run in the repository, and stop when a later one falls behind it",
        description="save writes what a run found to a small JSON file. check compares a later run with it and exits "
        "with 1 when a mean fell by more than chance explains, or a claim that was to be kept is lost.",
    )
    baseline.add_argument("action", choices=("save", "check"))
    baseline.add_argument("run", metavar="RUN", help=_RUN_HELP)
    baseline.add_argument("--file", default="ragcov-baseline.json", metavar="FILE", help="the baseline (%(default)s)")
    baseline.add_argument(
        "--keep",
        action="append",
        default=[],
        metavar="TEXT",
        help="save: supported claims that contain TEXT must not be lost (SAMPLE:TEXT for one sample); again for more",
    )
    baseline.add_argument("--keep-all", action="store_true", help="save: no supported claim may be lost")
    baseline.add_argument("--json", action="store_true", help="check: print the comparison as JSON")
    _add_store(baseline)


def main(argv: Sequence[str] | None = None) -> int:
    """Runs the command line.

    Returns:
        The exit code: 0 all well, 1 under the threshold, 2 bad usage or bad input, 3 rows failed or a fault of
        ragcov itself, 130 interrupted.
    """
    # Whatever the locale, text goes out as UTF-8, and what can't be encoded must not end a run.
    for stream in (sys.stdout, sys.stderr):
        if isinstance(stream, io.TextIOWrapper):
            stream.reconfigure(encoding="utf-8", errors="backslashreplace")
    options = build_parser().parse_args(argv)
    try:
        check_outputs(options)
        command = importlib.import_module(f"ragcov.commands.{options.command}")
        code: int = command.run(options)
        sys.stdout.flush()
        return code
    except (UsageError, DataError) as error:
        return _stop(EXIT_USAGE, error)
    except RagcovError as error:
        return _stop(EXIT_FAILED, error)
    except KeyboardInterrupt as error:
        print(f"ragcov: {error or 'interrupted'}", file=sys.stderr)
        return EXIT_INTERRUPTED
    except BrokenPipeError:
        # The reader of our output went away, as `| head` does: leave quietly, and keep Python from complaining.
        os.dup2(os.open(os.devnull, os.O_WRONLY), sys.stdout.fileno())
        return EXIT_OK
    except Exception:  # noqa: BLE001 - Python's own exit code would be 1, which says "under the threshold"
        traceback.print_exc()
        print("ragcov: this is a fault of ragcov; please report it with the lines above", file=sys.stderr)
        return EXIT_FAILED


def _stop(code: int, error: RagcovError) -> int:
    from ragcov.reports.text import printable

    print(f"ragcov: {printable(str(error))}", file=sys.stderr)
    return code


if __name__ == "__main__":
    sys.exit(main())
