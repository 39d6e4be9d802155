"""From CSV files to predictions: a session with made-up patients. Use: python3 own_data.py

Each part between two lines of dashes would be a cell of a notebook. It needs the command dptrain in $PATH or $DPTRAIN.
"""

# ---------------------------------------------------------------------------------------------------------------------
# Made-up files: private.csv has the patients to protect, public.csv a few others whose data are published.

import csv
import os
import subprocess
import sys
import tempfile

import numpy as np

sys.path.insert(0, os.path.dirname(os.path.dirname(os.path.abspath(__file__))))  # or: pip install ./python

import dptrain

folder = tempfile.mkdtemp()
os.environ["DPTRAIN_STORE"] = folder  # of a real session: where runs and their ledger stay
draw = np.random.default_rng(0)
for name, count in (("private.csv", 2000), ("public.csv", 300), ("new.csv", 5)):
    with open(os.path.join(folder, name), "w", newline="", encoding="utf-8") as file:
        out = csv.writer(file)
        out.writerow(["age", "pressure", "smoker", "ill"])
        for _ in range(count):
            age, pressure, smoker = draw.integers(20, 90), draw.normal(130, 15), draw.choice(["yes", "no"])
            risk = (age - 55) / 15 + (pressure - 130) / 15 + (1 if smoker == "yes" else -1)
            out.writerow([age, round(pressure, 1), smoker, "yes" if risk + draw.normal() > 0 else "no"])

# ---------------------------------------------------------------------------------------------------------------------
# Numeric columns as arrays, in scikit-learn's manner. Bounds come from what ages and blood pressures are, not from rows.


def numbers(name):
    with open(os.path.join(folder, name), newline="", encoding="utf-8") as file:
        rows = list(csv.DictReader(file))
    X = np.array([[float(r["age"]), float(r["pressure"]), r["smoker"] == "yes"] for r in rows])
    return X, np.array([r["ill"] for r in rows])


X, y = numbers("private.csv")
X_public, y_public = numbers("public.csv")
classifier = dptrain.DPClassifier(epsilon=2, delta=1e-4, bounds=[(18, 100), (60, 220), (0, 1)])
classifier.fit(X, y, X_public, y_public)
accuracy = classifier.score(X_public, y_public)
print(f"accuracy on public rows {accuracy:.3f}, epsilon {classifier.epsilon_:.2f} at delta {classifier.delta_}")

# ---------------------------------------------------------------------------------------------------------------------
# Files with categories: the command reads them, and this package opens what it releases. A second release of the same
# patients adds to the first.

run = os.path.join(folder, "from-files")
command = [dptrain.find_command(), "tune", "--train", "private.csv", "--test", "public.csv", "--label", "ill"]
command += ["--categories", "smoker=no,yes", "--clip", "age=18,100", "--scale", "age=55,15"]
command += ["--clip", "pressure=60,220", "--scale", "pressure=130,15"]
command += ["--epsilon", "2", "--delta", "1e-4", "--model", "mlp:8", "--out", run, "--quiet"]
subprocess.run(command, cwd=folder, check=True, stdout=subprocess.DEVNULL)
model = dptrain.load(run)
print(model)

# ---------------------------------------------------------------------------------------------------------------------
# New patients, as rows of any kind: a pandas frame works too.

with open(os.path.join(folder, "new.csv"), newline="", encoding="utf-8") as file:
    new = list(csv.DictReader(file))
for row, probability in zip(new, model.predict_proba(new)):
    print({name: row[name] for name in model.columns}, dict(zip(model.classes, probability.round(3).tolist())))
print(model.predict([[80, 150, "yes"], [25, 110, "no"]]))
