# SPDX-License-Identifier: Apache-2.0
"""Small ONNX models that an engine's example must refuse, or take."""
import onnx

F32 = ["N", 3, 224, 224]


def small(folder, name, inputs, element=onnx.TensorProto.FLOAT):
    """A model that flattens its first input."""
    h = onnx.helper
    graph = h.make_graph([h.make_node("Flatten", ["in0"], ["out"])], name,
                         [h.make_tensor_value_info(f"in{i}", element, shape) for i, shape in enumerate(inputs)],
                         [h.make_tensor_value_info("out", element, None)])
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
