# SPDX-License-Identifier: Apache-2.0
# Golden figures of test_bert.c: BERT for pre-training of PyTorch's own parts, and bert-modern, in double. Prints both losses, logits,
# and of each parameter's gradient g, or of those of a layer, the sum of g[i] cos(i). torch_ten_steps.py trains the same networks.
#
#   torch_bert.py
import math
import re

import torch
import torch.nn as nn
import torch.nn.functional as F

import torch_gpt

SMALL = {"width": 6, "layers": 2, "heads": 2, "inner": 10, "symbols": 13, "positions": 9}
TOKENS = [[2, 7, 4, 3, 9, 4, 12, 3], [2, 4, 3, 11, 3, 0, 0, 0], [2, 5, 8, 6, 3, 4, 3, 0]]
SEGMENTS = [[0, 0, 0, 0, 1, 1, 1, 1], [0, 0, 0, 1, 1, 0, 0, 0], [0, 0, 0, 0, 0, 1, 1, 0]]
LENGTHS, NEXT = torch.tensor([8, 5, 7]), torch.tensor([1, 0, 1])
PLACES = [[2, 5, 0], [1, 0, 0], [1, 5, 0]]
LABELS = [[10, 6, -1], [8, -1, -1], [5, 12, -1]]


def batch(pairs, masked, length, most):
    """Of scored_set.py's samples: tokens, segments, lengths, places and labels (-1: none) of masked pieces, next sentences."""
    tokens, segments = torch.zeros(2, len(pairs), length, dtype=torch.long)
    places, labels = torch.zeros(len(pairs), most, dtype=torch.long), torch.full((len(pairs), most), -1)
    for n, (ids, at, was) in enumerate(masked):
        tokens[n, :len(ids)], segments[n, len(pairs[n][0]) + 2:len(ids)] = torch.tensor(ids), 1
        places[n, :len(at)], labels[n, :len(at)] = torch.tensor(at), torch.tensor(was)
    lengths, nexts = torch.tensor([len(ids) for ids, _, _ in masked]), torch.tensor([pair[2] for pair in pairs])
    return tokens, segments, lengths, places, labels, nexts


def dense(to, of):
    part = nn.Module()
    part.dense = nn.Linear(of, to)
    return part


class Layer(nn.Module):
    def __init__(self, width, heads, inner):
        super().__init__()
        self.heads = heads
        self.attention, self.attention.self = nn.Module(), nn.Module()
        for name in ("query", "key", "value"):
            setattr(self.attention.self, name, nn.Linear(width, width))
        self.attention.output, self.intermediate, self.output = dense(width, width), dense(inner, width), dense(width, inner)
        self.attention.output.LayerNorm, self.output.LayerNorm = (nn.LayerNorm(width, 1e-12) for _ in range(2))

    def forward(self, x, mask):
        b, t, width = x.shape
        q, k, v = (p(x).view(b, t, self.heads, -1).transpose(1, 2) for p in
                   (self.attention.self.query, self.attention.self.key, self.attention.self.value))
        y = F.scaled_dot_product_attention(q, k, v, attn_mask=mask).transpose(1, 2).reshape(b, t, width)
        x = self.attention.output.LayerNorm(x + self.attention.output.dense(y))
        return self.output.LayerNorm(x + self.output.dense(F.gelu(self.intermediate.dense(x))))


def add_heads(model, width, symbols, eps=1e-12):
    model.pooler, model.cls = dense(width, width), nn.Module()
    p = model.cls.predictions = nn.Module()
    p.bias, p.transform = nn.Parameter(torch.zeros(symbols)), dense(width, width)
    p.transform.LayerNorm = nn.LayerNorm(width, eps)
    model.cls.seq_relationship = nn.Linear(width, 2)


def answers(model, x, places):
    at = x.gather(1, places[..., None].expand(-1, -1, x.shape[-1]))
    p = model.cls.predictions
    words = F.linear(p.transform.LayerNorm(F.gelu(p.transform.dense(at))), model.embeddings.word_embeddings.weight, p.bias)
    return words, model.cls.seq_relationship(torch.tanh(model.pooler.dense(x[:, 0])))


class Bert(nn.Module):
    def __init__(self, width, layers, heads, inner, symbols, positions):
        super().__init__()
        e = self.embeddings = nn.Module()
        e.word_embeddings, e.position_embeddings = nn.Embedding(symbols, width), nn.Embedding(positions, width)
        e.token_type_embeddings, e.LayerNorm = nn.Embedding(2, width), nn.LayerNorm(width, 1e-12)
        self.encoder = nn.Module()
        self.encoder.layer = nn.ModuleList(Layer(width, heads, inner) for _ in range(layers))
        add_heads(self, width, symbols)

    def forward(self, tokens, segments, lengths, places):
        e, t = self.embeddings, tokens.shape[1]
        x = e.word_embeddings(tokens) + e.token_type_embeddings(segments) + e.position_embeddings(torch.arange(t))
        x, mask = e.LayerNorm(x), (torch.arange(t) < lengths[:, None])[:, None, None]
        for layer in self.encoder.layer:
            x = layer(x, mask)
        return answers(self, x, places)


class Modern(nn.Module):
    def __init__(self, width, layers, heads, inner, symbols, gated=False, rotary=10000):
        super().__init__()
        e = self.embeddings = nn.Module()
        e.word_embeddings, e.token_type_embeddings = nn.Embedding(symbols, width), nn.Embedding(2, width)
        self.layers = nn.ModuleList(torch_gpt.Layer(width, heads, inner, gated, rotary) for _ in range(layers))
        add_heads(self, width, symbols, 1e-6)

    def forward(self, tokens, segments, lengths, places):
        e, t = self.embeddings, tokens.shape[1]
        x = torch_gpt.norm(e.word_embeddings(tokens) + e.token_type_embeddings(segments))
        mask = (torch.arange(t) < lengths[:, None])[:, None, None]
        for layer in self.layers:
            x = layer(x, mask)
        return answers(self, torch_gpt.norm(x), places)


def golden(title, model):
    model = model.double()
    for name, p in model.named_parameters():
        weight, norm = "weight" in name, "weight" in name and "LayerNorm" in name
        amplitude, phase, k = 0.5 if weight else 0.3, sum(name.encode()), torch.arange(1, p.numel() + 1).double()
        with torch.no_grad():
            p.copy_((norm + amplitude * torch.sin(0.37 * k * k + phase)).float().view_as(p))
    words, following = model(torch.tensor(TOKENS), torch.tensor(SEGMENTS), LENGTHS, torch.tensor(PLACES))
    masked = F.cross_entropy(words.flatten(0, 1), torch.tensor(LABELS).flatten(), ignore_index=-1)
    nsp = F.cross_entropy(following, NEXT)
    (masked + nsp).backward()
    print(title)
    print("losses %.8f %.8f" % (masked.item(), nsp.item()))
    print("words", ["%.8f" % words[b, k, 4 * k + 1].item() for b, k in ((0, 0), (0, 1), (1, 0), (2, 1))])
    print("next", ["%.8f" % v.item() for v in following.flatten()])
    sums = {}
    for name, p in model.named_parameters():
        key = re.match(r"((encoder\.layer|layers)\.\d\.|.*)", name)[0]
        g = p.grad.flatten()
        sums[key] = sums.get(key, 0) + (g * torch.cos(torch.arange(g.numel()).double())).sum().item()
    for name, value in sums.items():
        print('    {"%s", %.8f},' % (name, value))


if __name__ == "__main__":
    golden("bert-mlm", Bert(**SMALL))
    SMALL.pop("positions")
    for gated in (False, True):
        golden(f"bert-modern, {'swiglu' if gated else 'relu-squared'}", Modern(**SMALL | {"width": 8}, gated=gated))
