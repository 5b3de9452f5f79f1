# What `cmake --install` puts in place is complete: the program runs far away from the source tree.
"""Usage: installed.py BUILD_DIR"""
import pathlib
import subprocess
import sys
import tempfile


def main():
    build = pathlib.Path(sys.argv[1])
    with tempfile.TemporaryDirectory() as folder:
        prefix = pathlib.Path(folder) / "usr"
        subprocess.run(["cmake", "--install", build, "--prefix", prefix], check=True, stdout=subprocess.DEVNULL)
        wrong = [name for name in ("share/man/man1/replisim.1", "share/man/man1/replisim-run.1",
                                   "share/bash-completion/completions/replisim", "share/zsh/site-functions/_replisim",
                                   "share/fish/vendor_completions.d/replisim.fish",
                                   "share/replisim/scenarios/hardware/lab-2core.yaml",
                                   "share/replisim/calibration/profiles/lab-2core.yaml")
                 if not (prefix / name).is_file()]
        # Its machines are the installed ones and not those of the tree it was built from.
        hardware = prefix / "share/replisim/scenarios/hardware"
        text = (hardware / "lab-2core.yaml").read_text(encoding="utf-8")
        (hardware / "elsewhere.yaml").write_text(text.replace("name: lab-2core", "name: elsewhere"), encoding="utf-8")
        program = prefix / "bin" / "replisim"
        for arguments in (["init", "mine.yaml"], ["check", "mine.yaml", "--set", "hosts.a=elsewhere"],
                          ["run", "mine.yaml", "--format", "csv"]):
            done = subprocess.run([program, *arguments], cwd=folder, text=True, capture_output=True, check=False)
            if done.returncode != 0:
                wrong.append(f"{' '.join(arguments)}: {done.stdout}{done.stderr}")
    print("\n".join(wrong))
    return 1 if wrong else 0


if __name__ == "__main__":
    sys.exit(main())
