# SPDX-License-Identifier: Apache-2.0
# Ten steps of the recipe transformer-tiny in f32, without dropout, on 16 pairs, by DAWN and by PyTorch from the same weights:
# the loss before each step, and the weights after the last one.
#
#   torch_ten_steps.py DAWN FOLDER    (FOLDER: with the files of multi30k; writes into the current folder)
import json
import math
import pathlib
import subprocess
import sys

import torch
import torch.nn as nn
from safetensors.torch import load_file

PAIRS, STEPS, WARMUP, RATE, WIDTH, PAD, BOS, EOS, FIRST = 16, 10, 2, 5e-3, 128, 0, 1, 2, 4
SETTINGS = {"tokens": 0, "batch": PAIRS, "dropout": 0, "precision": "f32", "epochs": STEPS, "warmup_epochs": WARMUP, "merges": 200}


def lines(folder, part, side):
    return (pathlib.Path(folder) / f"{part}.lc.norm.tok.{side}").read_text().split("\n")[:PAIRS]


def train(dawn, name, **changed):
    words = [f"{key}={value}" for key, value in {**SETTINGS, **changed}.items()]
    command = [dawn, "train", "multi30k", "--data", "few", "--seed", "1", "--no-stop", "--db", f"{name}.db"]
    done = subprocess.run(command + [x for word in words for x in ("--set", word)], capture_output=True, text=True)
    assert done.returncode == 3, done.stderr  # the target is missed
    run = subprocess.run([dawn, "results", "export", "1", "--db", f"{name}.db", "--format", "json"], capture_output=True, text=True)
    points = json.loads(run.stdout)["runs"][0]["points"]
    return load_file(f"{name}-run-1.safetensors"), [p["loss_micro"] / 1e6 for p in points]


# ---- byte pair encoding as subword-nmt 0.2 learns it: the most frequent pair first, of equals the largest
def learn(words, merges):
    split = {word: [*word[:-1], word[-1] + "</w>"] for word in words}
    for _ in range(merges):
        count = {}
        for word, parts in split.items():
            for pair in zip(parts, parts[1:]): count[pair] = count.get(pair, 0) + words[word]
        if not count or max(count.values()) < 2: break
        best = max(count, key=lambda pair: (count[pair], pair))
        for word, parts in split.items():
            i = 0
            while i < len(parts) - 1:
                if (parts[i], parts[i + 1]) == best: parts[i:i + 2] = [parts[i] + parts[i + 1]]
                i += 1
    return split


class Transformer(nn.Module):
    def __init__(self, symbols):
        super().__init__()
        shape = {"d_model": WIDTH, "nhead": 4, "dim_feedforward": 256, "dropout": 0.0, "batch_first": True}
        self.encoder = nn.TransformerEncoder(nn.TransformerEncoderLayer(**shape), 4, enable_nested_tensor=False)
        self.decoder = nn.TransformerDecoder(nn.TransformerDecoderLayer(**shape), 4)
        self.embedding = nn.Embedding(symbols, WIDTH)

    def embed(self, x):
        half = WIDTH // 2
        angle = torch.arange(x.shape[1])[:, None] * torch.exp(torch.arange(half) * (-math.log(10000) / (half - 1)))
        return self.embedding(x) * math.sqrt(WIDTH) + torch.cat((angle.sin(), angle.cos()), 1)

    def forward(self, source, read):
        later = torch.triu(torch.ones(read.shape[1], read.shape[1], dtype=torch.bool), 1)
        memory = self.encoder(self.embed(source), src_key_padding_mask=source == PAD)
        y = self.decoder(self.embed(read), memory, tgt_mask=later, memory_key_padding_mask=source == PAD)
        return nn.functional.linear(y, self.embedding.weight)


def main():
    dawn, folder = sys.argv[1:3]
    few = pathlib.Path("few")
    few.mkdir(exist_ok=True)
    texts = [lines(folder, "train", side) for side in ("en", "de")]
    for part in ("train", "test_2016_flickr", "val"):
        for side, text in zip(("en", "de"), texts): (few / f"{part}.lc.norm.tok.{side}").write_text("\n".join(text) + "\n")
    start, _ = train(dawn, "start", filter_lr=1e-30, head_lr=1e-30, bias_lr=1e-30)
    end, losses = train(dawn, "end")

    words = {}
    for line in texts[0] + texts[1]:
        for word in line.split(): words[word] = words.get(word, 0) + 1
    split = learn(words, SETTINGS["merges"])
    count = {}
    for word, parts in split.items():
        for part in parts: count[part] = count.get(part, 0) + words[word]
    number = {part: FIRST + i for i, part in enumerate(sorted(count, key=lambda part: (-count[part], part.encode())))}
    source, target = (nn.utils.rnn.pad_sequence([torch.tensor([number[p] for w in line.split() for p in split[w]] + [EOS])
                                                 for line in text], batch_first=True, padding_value=PAD) for text in texts)
    read = torch.cat((torch.full((PAIRS, 1), BOS), target[:, :-1]), 1)

    model = Transformer(FIRST + len(number))
    model.load_state_dict({name: start[name] for name in model.state_dict()})
    update = torch.optim.Adam(model.parameters(), lr=RATE, betas=(0.9, 0.98), eps=1e-9)
    for step in range(STEPS):
        # The rate rises to 1 during the warm-up and falls to 0 at the end, linearly.
        up = 1 / (WARMUP + 1) + step / WARMUP * (1 - 1 / (WARMUP + 1))
        update.param_groups[0]["lr"] = RATE * (up if step < WARMUP else 1 - (step - WARMUP) / (STEPS - WARMUP))
        logits = model(source, read)
        loss = nn.functional.cross_entropy(logits.flatten(0, 1), target.flatten(), ignore_index=PAD, label_smoothing=0.1)
        update.zero_grad()
        loss.backward()
        update.step()
        print(f"step {step + 1}: loss {losses[step]:.6f}, PyTorch {loss.item():.6f}")
    # The gradient of a key's bias is zero but for rounding, so the joint biases are left out.
    differ = {name: ((value - end[name]).norm() / (value - start[name]).norm()).item()
              for name, value in model.state_dict().items() if not name.endswith("in_proj_bias")}
    most = max(differ, key=differ.get)
    print(f"weights after step {STEPS}: at most {differ[most]:.1e} of what they moved apart ({most})")


main()
