# SPDX-License-Identifier: Apache-2.0
# Golden figures of test_translators.c: MLPerf's own GNMT, TBD's Seq2Seq without input feeding, and PyTorch's own layers of a
# Transformer, in double by PyTorch. Prints the loss, four logits, and of each parameter's gradient g, or of those of a
# Transformer's layer, the sum of g[i] cos(i); of a Transformer also the attention of the last layer to the source.
#
#   torch_translators.py FOLDER    (retired_benchmarks/gnmt/pytorch of github.com/mlcommons/training)
import math
import re
import sys
import types

import torch
import torch.nn as nn
from torch.nn.utils.rnn import pack_padded_sequence, pad_packed_sequence

WIDTH, LAYERS, SYMBOLS = 6, 3, 11
SOURCE = [[4, 9, 5, 10, 2], [7, 5, 2, 0, 0], [6, 2, 0, 0, 0]]
TARGET = [[8, 4, 2, 0], [3, 10, 7, 2], [9, 2, 0, 0]]
SOURCE_LENGTHS, TARGET_LENGTHS = torch.tensor([5, 3, 2]), torch.tensor([3, 4, 2])

# What the published code imports besides PyTorch.
sys.path.insert(0, sys.argv[1])
sys.modules["mlperf_compliance"] = types.SimpleNamespace(mlperf_log=types.SimpleNamespace(
    gnmt_print=lambda **_: None, MODEL_HP_NUM_LAYERS=0, MODEL_HP_HIDDEN_SIZE=0, MODEL_HP_DROPOUT=0))
import torch.utils.collect_env  # noqa: E402, F401
from seq2seq.models.attention import BahdanauAttention  # noqa: E402
from seq2seq.models.gnmt import GNMT  # noqa: E402


class Seq2Seq(nn.Module):
    def __init__(self):
        super().__init__()
        self.encoder, self.decoder = nn.Module(), nn.Module()
        self.encoder.embedder = nn.Embedding(SYMBOLS, WIDTH)
        for stack in (self.encoder, self.decoder):
            stack.rnn_layers = nn.ModuleList(nn.LSTM(WIDTH, WIDTH, batch_first=True) for _ in range(LAYERS))
        self.decoder.attn = BahdanauAttention(WIDTH, WIDTH, WIDTH, batch_first=True)
        self.decoder.attention_layer = nn.Linear(2 * WIDTH, WIDTH, bias=False)
        self.decoder.classifier = nn.Module()
        self.decoder.classifier.classifier = nn.Linear(WIDTH, SYMBOLS, bias=False)

    def forward(self, source, lengths, target):
        x, states = self.encoder.embedder(source), []
        for i, rnn in enumerate(self.encoder.rnn_layers):
            y, state = rnn(pack_padded_sequence(x, lengths, batch_first=True))
            y, _ = pad_packed_sequence(y, batch_first=True)
            x = y + x if i > 1 else y
            states.append(state)
        memory, x = x, self.encoder.embedder(target)
        for i, rnn in enumerate(self.decoder.rnn_layers):
            y, _ = rnn(x, states[i])
            x = y + x if i > 1 else y
        self.decoder.attn.set_mask(lengths, memory)
        context, _ = self.decoder.attn(x, memory)
        return self.decoder.classifier.classifier(self.decoder.attention_layer(torch.cat((x, context), 2)))


class Transformer(nn.Module):
    def __init__(self, pre):
        super().__init__()
        shape = {"d_model": WIDTH, "nhead": 2, "dim_feedforward": 10, "dropout": 0.0, "batch_first": True, "norm_first": pre}
        norm = (lambda: nn.LayerNorm(WIDTH)) if pre else (lambda: None)
        self.encoder = nn.TransformerEncoder(nn.TransformerEncoderLayer(**shape), LAYERS, norm(), enable_nested_tensor=False)
        self.decoder = nn.TransformerDecoder(nn.TransformerDecoderLayer(**shape), LAYERS, norm())
        self.embedding = nn.Embedding(SYMBOLS, WIDTH)

    def embed(self, x):
        half = WIDTH // 2
        angle = torch.arange(x.shape[1])[:, None] * torch.exp(torch.arange(half).double() * (-math.log(10000) / (half - 1)))
        return self.embedding(x) * math.sqrt(WIDTH) + torch.cat((angle.sin(), angle.cos()), 1)

    def forward(self, source, lengths, target):
        padding = torch.arange(source.shape[1]) >= lengths[:, None]
        later = torch.triu(torch.ones(target.shape[1], target.shape[1], dtype=torch.bool), 1)
        memory = self.encoder(self.embed(source), src_key_padding_mask=padding)
        y = self.decoder(self.embed(target), memory, tgt_mask=later, memory_key_padding_mask=padding)
        return nn.functional.linear(y, self.embedding.weight)


def golden(name, model):
    model = model.double().eval()
    for slot, p in model.named_parameters():
        wave = torch.arange(1, p.numel() + 1, dtype=torch.double) * 0.7 + sum(map(ord, slot))
        sine = (1 if "weight" in slot else 2) * torch.sin(wave)
        p.data = (1 + 0.5 * sine if "norm" in slot and "weight" in slot else sine).float().double().view_as(p)
    seen = []
    if hasattr(model, "embed"):
        model.decoder.layers[-1].multihead_attn.register_forward_pre_hook(
            lambda part, given, named: seen.append(part.forward(*given, **{**named, "need_weights": True})[1]), with_kwargs=True)
    target = torch.tensor(TARGET)
    read = torch.cat((torch.full((3, 1), 1), target[:, :-1]), 1)
    logits = model(torch.tensor(SOURCE), SOURCE_LENGTHS, read)
    losses = nn.functional.cross_entropy(logits.flatten(0, 1), target.flatten(), reduction="none").view_as(target)
    loss = (losses * (torch.arange(4) < TARGET_LENGTHS.unsqueeze(1))).sum()
    loss.backward()
    print(f"// {name}\n{loss.item():.8f}, {{" + ", ".join(f"{logits[1, i, 2 * i + 1].item():.8f}" for i in range(4)) + "},")
    if seen: print("attention of sample 1 to place 1: {" + ", ".join(f"{seen[0][1, i, 1].item():.8f}" for i in range(4)) + "}")
    along = {}
    for slot, p in model.named_parameters():
        if "bias_hh" in slot: continue  # its gradient is that of bias_ih
        name = re.match(r"(\w+\.layers\.\d\.|.*)", slot)[0]  # the layers of a Transformer are summed
        along[name] = along.get(name, 0) + sum(v * math.cos(i) for i, v in enumerate(p.grad.flatten().tolist()))
    rows = [f'{{"{name}", {value:.8f}}},' for name, value in along.items()]
    print("\n".join(" ".join(rows[i:i + 2]) for i in range(0, len(rows), 2)))


golden("gnmt", GNMT(SYMBOLS, WIDTH, LAYERS, 0, batch_first=True))
golden("seq2seq", Seq2Seq())
for pre in (False, True):
    golden(f"transformer, {'pre' if pre else 'post'}-norm", Transformer(pre))
