"""Answers requests, a line of JSON each: opens a model, or runs one that was opened."""

import json
import sys

import numpy as np
import onnx
import onnxruntime as ort

NUMBERS = {"tensor(float)": np.float32, "tensor(uint8)": np.uint8, "tensor(int64)": np.int64, "tensor(double)": np.float64}
sessions = {}


def opened(path):
    model = onnx.load(path)
    onnx.checker.check_model(model, full_check=True)
    options = ort.SessionOptions()
    options.log_severity_level = 4  # errors are answers
    sessions[path] = session = ort.InferenceSession(path, options, providers=["CPUExecutionProvider"])
    docs = {value.name: value.doc_string for value in model.graph.input}
    inputs = [{"Name": i.name, "Doc": docs[i.name], "Type": i.type, "Shape": [n if isinstance(n, int) else -1 for n in i.shape]} for i in session.get_inputs()]
    return {"Producer": model.producer_name, "Properties": {p.key: p.value for p in model.metadata_props}, "Inputs": inputs}


def run(session, inputs):
    feeds = {name: np.array([np.nan if v is None else v for v in t["Values"]], NUMBERS[t["Type"]]).reshape(t["Shape"]) for name, t in inputs.items()}
    outputs = zip(session.get_outputs(), session.run(None, feeds))
    return {o.name: {"Type": o.type, "Shape": v.shape, "Values": [None if x != x else x for x in v.ravel().tolist()]} for o, v in outputs}


for line in sys.stdin:
    request = json.loads(line)
    try:
        answer = {"Outputs": run(sessions[request["Path"]], request["Inputs"])} if request["Inputs"] else {"Model": opened(request["Path"])}
    except Exception as error:
        answer = {"Error": str(error)}
    print(json.dumps(answer), flush=True)
