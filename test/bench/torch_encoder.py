# SPDX-License-Identifier: Apache-2.0
# The training step of test/bench/bench_encoder.c by PyTorch on the CPU, from embeddings to AdamW, with scaled_dot_product_attention.
# Prints the processor time per thread, the least of three steps after one. To run in turn with that program:
#
#   torch_encoder.py [minilm|base [BATCH [TOKENS [bf16|f32 [LAYERS [THREADS [DROPOUT]]]]]]]
import sys
import time

import torch
import torch.nn as nn
import torch.nn.functional as F

VOCABULARY, POSITIONS, STEPS = 30522, 512, 4


class Layer(nn.Module):
    """Of BERT, or causal: of GPT-2, with norms before the parts, and no dropout of probabilities."""

    def __init__(self, width, heads, inner, p, causal):
        super().__init__()
        self.heads, self.p, self.causal = heads, p, causal
        self.qkv, self.out = nn.Linear(width, 3 * width), nn.Linear(width, width)
        self.up, self.down = nn.Linear(width, inner), nn.Linear(inner, width)
        self.norm1, self.norm2 = nn.LayerNorm(width, 1e-12), nn.LayerNorm(width, 1e-12)

    def attend(self, x):
        n, t, c = x.shape
        q, k, v = self.qkv(x).view(n, t, 3, self.heads, c // self.heads).permute(2, 0, 3, 1, 4)
        y = F.scaled_dot_product_attention(q, k, v, is_causal=self.causal, dropout_p=0 if self.causal else self.p)
        return F.dropout(self.out(y.transpose(1, 2).reshape(n, t, c)), self.p)

    def feed(self, x):
        return F.dropout(self.down(F.gelu(self.up(x), approximate="tanh" if self.causal else "none")), self.p)

    def forward(self, x):
        if self.causal:
            x = x + self.attend(self.norm1(x))
            return x + self.feed(self.norm2(x))
        x = self.norm1(x + self.attend(x))
        return self.norm2(x + self.feed(x))


class Encoder(nn.Module):
    def __init__(self, width, heads, inner, layers, p, symbols=VOCABULARY, positions=POSITIONS, causal=False):
        super().__init__()
        self.p, self.causal = p, causal
        self.words, self.positions = nn.Embedding(symbols, width), nn.Embedding(positions, width)
        self.norm = nn.LayerNorm(width, 1e-12)
        self.layers = nn.ModuleList(Layer(width, heads, inner, p, causal) for _ in range(layers))

    def forward(self, tokens, more=0):
        x = self.words(tokens) + self.positions.weight[:tokens.shape[1]] + more
        x = F.dropout(x if self.causal else self.norm(x), self.p)
        for layer in self.layers:
            x = layer(x)
        return self.norm(x) if self.causal else x


def least_of_steps(optimisers, kind, threads, loss_of):
    """Seconds of processor time per thread."""
    least = float("inf")
    for step in range(STEPS):
        began = time.process_time()
        for o in optimisers: o.zero_grad()
        with torch.autocast("cpu", dtype=torch.bfloat16, enabled=kind == "bf16"): loss = loss_of()
        loss.backward()
        for o in optimisers: o.step()
        least = min(least, (time.process_time() - began) / threads if step else least)
    return least


def main():
    words = sys.argv[1:] + ["minilm", "32", "256", "bf16", "6", "1", "0.1"][len(sys.argv) - 1:]
    batch, tokens, layers, threads = int(words[1]), int(words[2]), int(words[4]), int(words[5])
    width, inner = (768, 3072) if words[0] == "base" else (384, 1536)
    torch.set_num_threads(threads)
    torch.manual_seed(1)
    model, span = Encoder(width, 12, inner, layers, float(words[6])), nn.Linear(width, 2)
    optimiser = torch.optim.AdamW([*model.parameters(), *span.parameters()], lr=1e-5, weight_decay=0.01)
    index = (torch.arange(batch * tokens) * 7919 % VOCABULARY).view(batch, tokens)
    starts = torch.zeros(batch, dtype=torch.long)

    def loss_of():
        first, last = span(model(index)).float().unbind(2)
        return F.cross_entropy(first, starts) + F.cross_entropy(last, starts)

    least = least_of_steps([optimiser], words[3], threads, loss_of)
    print(f"PyTorch {torch.__version__}, {' '.join(words[:5])} layers, {threads} threads, dropout {words[6]}: {least:.3f} s")


if __name__ == "__main__":
    main()
