# SPDX-License-Identifier: Apache-2.0
# Golden figures of test_gpt.c: GPT-2 of PyTorch's own layers, and the network of its speedruns, in double. Prints the loss (a sum),
# four logits, and of the gradients g of each layer and of each other parameter the sum of g[i] cos(i). torch_ten_steps.py trains
# the same networks.
#
#   torch_gpt.py
import math
import re

import torch
import torch.nn as nn
import torch.nn.functional as F

SMALL = {"width": 8, "heads": 2, "layers": 2, "hidden": 12, "symbols": 11}
TEXT = torch.tensor([[4, 9, 5, 10, 2, 7], [7, 5, 2, 0, 0, 3], [6, 2, 1, 8, 8, 6]])
VALID = torch.tensor([5, 3, 5])


class GPT2(nn.Module):
    def __init__(self, width, heads, layers, hidden, symbols, block):
        super().__init__()
        layer = nn.TransformerEncoderLayer(width, heads, hidden, 0.0, lambda x: F.gelu(x, approximate="tanh"), batch_first=True,
                                           norm_first=True)
        self.layers = nn.TransformerEncoder(layer, layers, enable_nested_tensor=False).layers
        self.norm, self.embedding, self.positions = nn.LayerNorm(width), nn.Embedding(symbols, width), nn.Embedding(block, width)

    def forward(self, x):
        later = torch.triu(torch.ones(x.shape[1], x.shape[1], dtype=torch.bool), 1)
        y = self.embedding(x) + self.positions.weight[:x.shape[1]]
        for layer in self.layers:
            y = layer(y, later)
        return F.linear(self.norm(y), self.embedding.weight)


def norm(x):
    return F.rms_norm(x, x.shape[-1:], eps=1e-6)


class Attention(nn.Module):
    def __init__(self, width, heads, rotary):
        super().__init__()
        self.heads, self.rotary = heads, rotary
        self.q_proj, self.k_proj, self.v_proj, self.out_proj = (nn.Linear(width, width, bias=False) for _ in range(4))

    def forward(self, x, mask=None):
        b, t, width = x.shape
        q, k, v = (p(x).view(b, t, self.heads, -1).transpose(1, 2) for p in (self.q_proj, self.k_proj, self.v_proj))
        half = width // self.heads // 2
        angle = (torch.arange(t)[:, None] * self.rotary ** (-torch.arange(half).double() / half)).to(x.dtype)

        def rotate(y):
            a, z = y[..., :half], y[..., half:]
            return torch.cat((a * angle.cos() - z * angle.sin(), a * angle.sin() + z * angle.cos()), -1)

        y = F.scaled_dot_product_attention(rotate(norm(q)), rotate(norm(k)), v, mask, is_causal=mask is None)
        return self.out_proj(y.transpose(1, 2).flatten(2))


class Layer(nn.Module):
    def __init__(self, width, heads, hidden, gated, rotary=10000):
        super().__init__()
        self.gated, self.hidden, self.self_attn = gated, hidden, Attention(width, heads, rotary)
        self.linear1, self.linear2 = nn.Linear(width, hidden * (1 + gated), bias=False), nn.Linear(hidden, width, bias=False)

    def forward(self, x, mask=None):
        x = x + self.self_attn(norm(x), mask)
        y = self.linear1(norm(x))
        y = F.silu(y[..., :self.hidden]) * y[..., self.hidden:] if self.gated else F.relu(y).square()
        return x + self.linear2(y)


class Modern(nn.Module):
    def __init__(self, width, heads, layers, hidden, symbols, gated=False, cap=0):
        super().__init__()
        self.cap, self.layers = cap, nn.ModuleList(Layer(width, heads, hidden, gated) for _ in range(layers))
        self.embedding, self.head = nn.Embedding(symbols, width), nn.Linear(width, symbols, bias=False)

    def forward(self, x):
        y = norm(self.embedding(x))
        for layer in self.layers:
            y = layer(y)
        z = self.head(norm(y))
        return self.cap * torch.tanh(z / self.cap) if self.cap else z


def golden(name, model):
    model = model.double()
    for slot, p in model.named_parameters():
        wave = torch.arange(1, p.numel() + 1, dtype=torch.double) * 0.7 + sum(map(ord, slot))
        sine = (0.6 if "weight" in slot else 0.3) * torch.sin(wave)
        p.data = (1 + sine if "norm" in slot and "weight" in slot else sine).float().double().view_as(p)
    logits, labels = model(TEXT[:, :-1]), TEXT[:, 1:].clone()
    labels[torch.arange(5) >= VALID.unsqueeze(1)] = -100
    loss = F.cross_entropy(logits.flatten(0, 1), labels.flatten(), reduction="sum")
    loss.backward()
    print(f"// {name}\n{loss.item():.8f}, {{" + ", ".join(f"{logits[1, i, 2 * i + 1].item():.8f}" for i in range(4)) + "},")
    along = {}
    for slot, p in model.named_parameters():
        name = re.match(r"(layers\.\d\.|.*)", slot)[0]
        along[name] = along.get(name, 0) + sum(v * math.cos(i) for i, v in enumerate(p.grad.flatten().tolist()))
    rows = [f'{{"{name}", {value:.8f}}},' for name, value in along.items()]
    print("\n".join(" ".join(rows[i:i + 2]) for i in range(0, len(rows), 2)))


if __name__ == "__main__":
    golden("gpt", GPT2(**SMALL, block=5))
    for gated in (False, True):
        golden(f"gpt-modern, {'swiglu' if gated else 'relu-squared'}", Modern(**SMALL, gated=gated, cap=4))
