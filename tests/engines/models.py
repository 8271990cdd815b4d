# SPDX-License-Identifier: Apache-2.0
"""Small ONNX models that an engine's example must refuse, or take."""
import numpy as np
import onnx

F32 = ["N", 3, 224, 224]


def small(folder, name, inputs, element=onnx.TensorProto.FLOAT):
    """A model that flattens its first input."""
    h = onnx.helper
    graph = h.make_graph([h.make_node("Flatten", ["in0"], ["out"])], name,
                         [h.make_tensor_value_info(f"in{i}", element, shape) for i, shape in enumerate(inputs)],
                         [h.make_tensor_value_info("out", element, ["rows", "values"])])
    path = folder / f"{name}.onnx"
    onnx.save(h.make_model(graph, opset_imports=[h.make_opsetid("", 17)], ir_version=8), path)
    return path


def refused(folder):
    """Each with what must be said of it."""
    return [(small(folder, "size", [["N", 3, 260, 260]]),
             "takes N x 3 x 260 x 260, but the preset gives N x 3 x 224 x 224"),
            (small(folder, "nhwc", [["N", 224, 224, 3]]),
             "takes N x 224 x 224 x 3 (NHWC: recipe.layout = PINFOLD_NHWC), but the preset gives N x 3 x 224 x 224"),
            (small(folder, "two", [F32, F32]), ""), (small(folder, "half", [F32], onnx.TensorProto.FLOAT16), ""),
            (small(folder, "flat", [["N", 150528]]), ""), (folder / "none.onnx", "none.onnx")]


def failing(folder):
    """As above, for an engine that does not tell what a model takes: these fail inside."""
    h, cases = onnx.helper, []
    for name, shape, op, weights in [("size", ["N", 3, 260, 260], "MatMul", (3 * 260 * 260, 2)),
                                     ("nhwc", ["N", 224, 224, 3], "Conv", (2, 224, 1, 1))]:
        nodes = [h.make_node("Flatten", ["in"], ["flat"]), h.make_node("MatMul", ["flat", "w"], ["out"])]
        if op == "Conv":
            nodes = [h.make_node("Conv", ["in", "w"], ["out"], kernel_shape=[1, 1])]
        graph = h.make_graph(nodes, name, [h.make_tensor_value_info("in", onnx.TensorProto.FLOAT, shape)],
                             [h.make_tensor_value_info("out", onnx.TensorProto.FLOAT, ["N"] + ["x"] * (len(weights) - 1))],
                             [onnx.numpy_helper.from_array(np.ones(weights, np.float32), "w")])
        path = folder / f"{name}.onnx"
        onnx.save(h.make_model(graph, opset_imports=[h.make_opsetid("", 10)], ir_version=8), path)
        cases.append((path, "does not take float N x 3 x 224 x 224, which the preset gives"))
    return cases + [(folder / "none.onnx", "none.onnx")]
