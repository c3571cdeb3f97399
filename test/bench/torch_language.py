# SPDX-License-Identifier: Apache-2.0
# The training step of a language model by PyTorch, on drawn tokens and in forms that are fast there (torch_encoder.py,
# torch_wiki_modern.py). Prints the processor time per thread, the least of three steps after one. To run in turn with
# "dawn profile TASK --fake":
#
#   torch_language.py [gpt-char|wiki-modern|bert-base-128 [bf16|f32 [THREADS]]]
import sys

import torch
import torch.nn as nn
import torch.nn.functional as F

import torch_bert
import torch_encoder
import torch_wiki_modern

CHARACTERS, PIECES, P = 65, 8192, 0.1


class Clipped(torch.optim.AdamW):
    def __init__(self, model):
        self.all = [*model.parameters()]
        super().__init__(self.all, lr=1e-4, fused=True)

    def step(self):
        nn.utils.clip_grad_norm_(self.all, 1)
        super().step()


class Muon(torch_wiki_modern.Muon):
    def zero_grad(self):
        for w in self.all: w.grad = None

    def step(self):
        super().step(1)


class Bert(torch_encoder.Encoder):
    def __init__(self):
        super().__init__(768, 12, 3072, 12, P)
        self.segments, self.embeddings = nn.Embedding(2, 768), nn.Module()
        self.embeddings.word_embeddings = self.words
        torch_bert.add_heads(self, 768, torch_encoder.VOCABULARY)

    def losses(self, tokens, segments, lengths, places, labels, following):
        words, nexts = torch_bert.answers(self, self(tokens, self.segments(segments)), places)
        return F.cross_entropy(words.flatten(0, 1).float(), labels.flatten()) + F.cross_entropy(nexts.float(), following)


def gpt_char(kind):
    model = torch_encoder.Encoder(192, 6, 768, 6, P, CHARACTERS, 256, causal=True)
    x = torch.randint(0, CHARACTERS, (8, 257))
    tokens, labels = x[:, :-1], x[:, 1:].flatten()
    return model, [Clipped(model)], lambda: F.cross_entropy(F.linear(model(tokens), model.words.weight).flatten(0, 1).float(), labels)


def samples(symbols, masked):
    x = torch.randint(0, symbols, (32, 128))
    return x, x % 2, torch.full((32,), 128), torch.randint(0, 128, (32, masked)), x[:, :masked], x[:, 0] % 2


def wiki_modern(kind):
    model = torch_wiki_modern.Bert(PIECES, torch.bfloat16 if kind == "bf16" else torch.float32)
    tables = [w for slot, w in model.named_parameters() if not slot.startswith("layers.")]
    optimisers = [Muon(model.layers, model.dtype), torch.optim.AdamW(tables, lr=2e-3, fused=True)]
    batch = samples(PIECES, torch_wiki_modern.MOST)
    return model, optimisers, lambda: model.losses(*batch)


def bert_base(kind):
    model, batch = Bert(), samples(torch_encoder.VOCABULARY, 20)
    return model, [Clipped(model)], lambda: model.losses(*batch)


words = sys.argv[1:] + ["gpt-char", "bf16", "1"][len(sys.argv) - 1:]
threads = int(words[2])
torch.set_num_threads(threads)
torch.manual_seed(1)
model, optimisers, loss_of = {"gpt-char": gpt_char, "wiki-modern": wiki_modern, "bert-base-128": bert_base}[words[0]](words[1])
least = torch_encoder.least_of_steps(optimisers, words[1], threads, loss_of)
count = sum(p.numel() for p in model.parameters())
print(f"PyTorch {torch.__version__}, {' '.join(words[:2])}, {count:,} parameters, {threads} threads: {least:.3f} s")
