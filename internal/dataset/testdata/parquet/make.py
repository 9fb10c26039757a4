"""Writes the Parquet fixtures as the published data sets have them: pip install pyarrow; python make.py"""

import base64

import pyarrow as pa
import pyarrow.parquet as pq

PNG = base64.b64decode("iVBORw0KGgoAAAANSUhEUgAAAAEAAAABCAYAAAAfFcSJAAAADUlEQVR42mNk+M9QDwADhgGAWjR9awAAAABJRU5ErkJggg==")

rows = [
    {"context": f"A lighthouse, number {i}, stands on the cape. Grüße, 東京.", "question": "What stands there?", "choice_A": "a house", "choice_B": "a lighthouse",
     "choice_C": "a tree", "choice_D": "nothing", "answer": "B", "difficulty": None, "tags": ["sea", "light"], "n": i} for i in range(40)
]
pq.write_table(pa.Table.from_pylist(rows), "longbench.parquet", compression="snappy", row_group_size=16)
questions = [{"id": f"q{i}", "question": f"How many? <image 1> ({i})", "image_1": {"bytes": PNG, "path": "x.png"}, "image_2": None} for i in range(3)]
pq.write_table(pa.Table.from_pylist(questions), "mmmu.parquet", compression="zstd")
