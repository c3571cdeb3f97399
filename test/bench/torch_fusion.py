# SPDX-License-Identifier: Apache-2.0
# The training step of FastFusionNet (recipe fastfusionnet: tasks/squad/network/fusion.c) by PyTorch on the CPU. All texts are as
# long as the batch, so it masks nothing. The recurrence of the SRU is one operation per word and direction, in place, with a
# gradient of its own; everything else of an SRU is computed for all words at once. Prints the shortest of six steps after two:
#
#   torch_fusion.py [fastfusionnet [BATCH [WORDS [bf16|f32 [THREADS]]]]]
import sys
import time

import torch
import torch.nn as nn
import torch.nn.functional as F

ROWS, WORD, FEATURES, ASKED, HIDDEN, P, WORD_P, STEPS = 16384, 300, 8, 60, 125, 0.2, 0.4, 8
WIDE = 2 * HIDDEN


def drop(x, p=P):  # one draw for all words of a text
    return x * F.dropout(torch.ones_like(x[:, :1]), p)


class Scan(torch.autograd.Function):
    """c[t] = f[t] c[t - 1] + w[t] over [T,2,B,H]; direction 1 goes from the last word to the first."""

    @staticmethod
    def forward(ctx, f, w):
        c = w.clone()
        for t in range(1, len(c)):
            c[t, 0].addcmul_(f[t, 0], c[t - 1, 0])
            c[-1 - t, 1].addcmul_(f[-1 - t, 1], c[-t, 1])
        ctx.save_for_backward(f, c)
        return c

    @staticmethod
    def backward(ctx, dc):
        f, c = ctx.saved_tensors
        dw, df = dc.clone(), torch.zeros_like(f)
        for t in range(1, len(c)):
            dw[-1 - t, 0].addcmul_(f[-t, 0], dw[-t, 0])
            dw[t, 1].addcmul_(f[t - 1, 1], dw[t - 1, 1])
        df[1:, 0], df[:-1, 1] = dw[1:, 0] * c[:-1, 0], dw[:-1, 1] * c[1:, 1]
        return df, dw


class Sru(nn.Module):
    def __init__(self, i):
        super().__init__()
        self.parts = 3 if i == WIDE else 4
        self.u = nn.Linear(i, WIDE * self.parts, bias=False)
        self.bias = nn.Parameter(torch.zeros(2, 2, HIDDEN))  # direction, gate

    def forward(self, x):
        b, t, _ = x.shape
        u = self.u(drop(x)).float().view(b, t, 2, self.parts, HIDDEN).permute(3, 1, 2, 0, 4)
        f = torch.sigmoid(u[1] + self.bias[:, 0, None])
        r = torch.sigmoid(u[2] + self.bias[:, 1, None])
        c = Scan.apply(f, (1 - f) * u[0])
        skip = u[3] if self.parts == 4 else x.float().view(b, t, 2, HIDDEN).permute(1, 2, 0, 3)
        mask = F.dropout(torch.ones_like(c[:1]), P)
        h = r * mask * torch.tanh(c) + (1 - r) * skip
        return h.permute(2, 0, 1, 3).reshape(b, t, WIDE).to(x.dtype)


class Encoder(nn.Module):
    def __init__(self, i):
        super().__init__()
        self.layers = nn.ModuleList([Sru(i), Sru(WIDE)])

    def forward(self, x):
        low = self.layers[0](x)
        return low, self.layers[1](low)


def attend(q, k, v):
    return F.softmax((q @ k.mT).float(), -1).to(v.dtype) @ v


class Fusion(nn.Module):
    def __init__(self):
        super().__init__()
        self.words = nn.Embedding(ROWS, WORD)
        self.align = nn.Linear(WORD, WORD)
        self.text, self.asked = Encoder(2 * WORD + FEATURES), Encoder(WORD)
        self.asked_again, self.text_again, self.last = Encoder(2 * WIDE), Encoder(5 * WIDE), Encoder(2 * WIDE)
        self.u, self.d = nn.Linear(WORD + 2 * WIDE, 3 * WIDE, bias=False), nn.Parameter(torch.ones(3 * WIDE))
        self.own, self.own_d = nn.Linear(WORD + 6 * WIDE, WIDE, bias=False), nn.Parameter(torch.ones(WIDE))
        self.summary, self.gru = nn.Linear(WIDE, 1), nn.GRUCell(WIDE, WIDE)
        self.start, self.end = nn.Linear(WIDE, WIDE), nn.Linear(WIDE, WIDE)

    def point(self, layer, x, y):
        return (drop(x) @ layer(F.dropout(y, P))[:, :, None]).squeeze(2).float()

    def forward(self, tokens, question, features):
        kind = torch.bfloat16 if words[3] == "bf16" else torch.float32
        x, y = drop(self.words(tokens).to(kind), WORD_P), drop(self.words(question).to(kind), WORD_P)
        q, k = F.relu(self.align(drop(x))), F.relu(self.align(drop(y)))
        xs = self.text(torch.cat([x, attend(q, k, y), features.to(kind)], 2))
        ys = self.asked(y)
        ys += (self.asked_again(torch.cat(ys, 2))[1],)
        q = F.relu(self.u(drop(torch.cat([x, *xs], 2)))).chunk(3, 2)
        k = (F.relu(self.u(drop(torch.cat([y, *ys[:2]], 2)))) * self.d.to(kind)).chunk(3, 2)
        fused = torch.cat([*xs, *(attend(*each) for each in zip(q, k, ys))], 2)
        deep = self.text_again(fused)[1]
        q = F.relu(self.own(drop(torch.cat([x, fused, deep], 2))))
        x = self.last(torch.cat([deep, attend(q, q * self.own_d.to(kind), deep)], 2))[1]
        y = (F.softmax(self.summary(drop(ys[2])).float(), 1).to(kind).mT @ ys[2]).squeeze(1)
        first = self.point(self.start, x, y)
        there = (F.softmax(first, 1).to(kind)[:, None] @ x).squeeze(1)
        return first, self.point(self.end, x, self.gru(F.dropout(there, P), F.dropout(y, P)))


words = sys.argv[1:] + ["fastfusionnet", "32", "288", "bf16", "2"][len(sys.argv) - 1:]
batch, length, threads = int(words[1]), int(words[2]), int(words[4])
torch.set_num_threads(threads)
torch.manual_seed(1)
model = Fusion().train()
optimiser = torch.optim.Adamax(model.parameters(), lr=5e-3)
tokens, question = torch.randint(0, ROWS, (batch, length)), torch.randint(0, ROWS, (batch, ASKED))
features, starts = torch.randn(batch, length, FEATURES), torch.zeros(batch, dtype=torch.long)
least = float("inf")
for step in range(STEPS):
    began = time.perf_counter()
    optimiser.zero_grad()
    with torch.autocast("cpu", dtype=torch.bfloat16, enabled=words[3] == "bf16"):
        first, last = model(tokens, question, features)
    loss = F.cross_entropy(first, starts) + F.cross_entropy(last, starts)
    loss.backward()
    nn.utils.clip_grad_norm_(model.parameters(), 20)
    optimiser.step()
    least = min(least, time.perf_counter() - began if step > 1 else least)
count = sum(p.numel() for p in model.parameters())
print(f"PyTorch {torch.__version__}, {' '.join(words[:4])}, {count:,} parameters, {threads} threads: {least:.3f} s")
