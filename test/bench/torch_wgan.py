# SPDX-License-Identifier: Apache-2.0
# Without arguments the golden figures of test_wgan.c: both pairs of networks as PyTorch computes them, in double. Prints the penalty of
# the critic's gradient (create_graph), the generator's loss, and of each parameter's gradient g the sum of g[i] cos(i) in DAWN's order of
# elements. With arguments the seconds of a step of wgan-mnist, by the clock and of one thread's processor time; channels last or not,
# whichever is faster. torch_ten_steps.py trains with the same step.
#
#   torch_wgan.py [PENALTY f32|bf16 STEPS THREADS]
import sys
import time

import torch
import torch.nn as nn
import torch.nn.functional as F

COUNT, SIDE, WIDTH, NOISE = 3, 32, 4, 3


class Network:
    def __init__(self):
        self.leaves = {}

    def of(self, name, *shape):  # filters are [K,rows,columns,C]
        if name not in self.leaves:
            weight = "weight" in name
            norm = weight and "norm" in name
            amplitude = 0.5 if norm else 0.3
            k = torch.arange(1, torch.Size(shape).numel() + 1).double()
            wave = (norm + amplitude * torch.sin(0.37 * k * k + sum(name.encode()))).float().double()
            self.leaves[name] = wave.view(shape).requires_grad_()
        return self.leaves[name]

    def filters(self, name, k, side, c):
        return self.of(name + ".weight", k, side, side, c).permute(0, 3, 1, 2)

    def bias(self, name, n):
        return self.of(name + ".bias", n)

    def dense(self, name, x, out, biased=True):
        return F.linear(x, self.of(name + ".weight", out, x.shape[1]), self.bias(name, out) if biased else None)

    def norm(self, name, x):
        n = x.shape[1]
        return F.relu(F.batch_norm(x, None, None, self.of(name + ".weight", n), self.bias(name, n), True, 0.1, 1e-5))

    def conv(self, name, x, out, side, biased=True):
        return F.conv2d(x, self.filters(name, out, side, x.shape[1]), self.bias(name, out) if biased else None, 1, side // 2)


def picture(x, channels):  # [N, 4 * 4 * C] in DAWN's order
    return x.view(-1, 4, 4, channels).permute(0, 3, 1, 2)


def flat(x):
    return x.permute(0, 2, 3, 1).flatten(1)


class Plain(Network):
    def up(self, name, x, out, biased=False):
        w = self.filters(name, x.shape[1], 5, out)
        return F.conv_transpose2d(x, w, self.bias(name, out) if biased else None, 2, 2, 1)

    def generate(self, z):
        x = picture(self.norm("generator.norm0", self.dense("generator.dense", z, 64 * WIDTH, False)), 4 * WIDTH)
        x = self.norm("generator.norm1", self.up("generator.deconv1", x, 2 * WIDTH))
        x = self.norm("generator.norm2", self.up("generator.deconv2", x, WIDTH))
        return torch.tanh(self.up("generator.deconv3", x, 1, True))

    def criticise(self, x):
        for i, out in enumerate((WIDTH, 2 * WIDTH, 4 * WIDTH)):
            name = "critic.conv%d" % (i + 1)
            x = F.leaky_relu(F.conv2d(x, self.filters(name, out, 5, x.shape[1]), self.bias(name, out), 2, 2), 0.2)
        return self.dense("critic.dense", flat(x), 1)


class Residual(Network):
    def up(self, name, x):
        double = lambda v: F.interpolate(v, scale_factor=2, mode="nearest")
        y = self.conv(name + ".conv1", double(self.norm(name + ".norm1", x)), WIDTH, 3, False)
        y = self.conv(name + ".conv2", self.norm(name + ".norm2", y), WIDTH, 3)
        return y + double(self.conv(name + ".shortcut", x, WIDTH, 1))

    def generate(self, z):
        x = picture(self.dense("generator.dense", z, 16 * WIDTH), WIDTH)
        for i in range(3):
            x = self.up("generator.block%d" % (i + 1), x)
        return torch.tanh(self.conv("generator.last", self.norm("generator.norm", x), 1, 3))

    def criticise(self, x):
        half = lambda v: F.avg_pool2d(v, 2)
        name = "critic.block1"
        y = F.relu(self.conv(name + ".conv1", x, WIDTH, 3))
        x = half(self.conv(name + ".conv2", y, WIDTH, 3)) + self.conv(name + ".shortcut", half(x), WIDTH, 1)
        for i in range(2, 5):
            name = "critic.block%d" % i
            y = self.conv(name + ".conv1", F.relu(x), WIDTH, 3)
            y = self.conv(name + ".conv2", F.relu(y), WIDTH, 3)
            x = half(y) + half(self.conv(name + ".shortcut", x, WIDTH, 1)) if i == 2 else y + x
        return self.dense("critic.dense", F.relu(x).mean((2, 3)), 1)


class Wgan(nn.Module):
    """The plain pair at its published size, with DAWN's names."""
    WIDTH, NOISE, CRITIC = 32, 128, 5

    def __init__(self):
        super().__init__()
        d, up, down = self.WIDTH, {"stride": 2, "padding": 2, "output_padding": 1}, {"stride": 2, "padding": 2}
        self.generator = nn.ModuleDict({
            "dense": nn.Linear(self.NOISE, 64 * d, bias=False), "norm0": nn.BatchNorm1d(64 * d),
            "deconv1": nn.ConvTranspose2d(4 * d, 2 * d, 5, bias=False, **up), "norm1": nn.BatchNorm2d(2 * d),
            "deconv2": nn.ConvTranspose2d(2 * d, d, 5, bias=False, **up), "norm2": nn.BatchNorm2d(d),
            "deconv3": nn.ConvTranspose2d(d, 1, 5, **up)})
        self.critic = nn.ModuleDict({"conv1": nn.Conv2d(1, d, 5, **down), "conv2": nn.Conv2d(d, 2 * d, 5, **down),
                                     "conv3": nn.Conv2d(2 * d, 4 * d, 5, **down), "dense": nn.Linear(64 * d, 1)})

    def generate(self, z):
        g = self.generator
        x = picture(F.relu(g["norm0"](g["dense"](z))), 4 * self.WIDTH)
        for i in "12": x = F.relu(g["norm" + i](g["deconv" + i](x)))
        return torch.tanh(g["deconv3"](x))

    def criticise(self, x):
        for i in "123": x = F.leaky_relu(self.critic["conv" + i](x), 0.2)
        return self.critic["dense"](flat(x))

    def step_critic(self, update, real, noise, share, factor, cast):
        with torch.no_grad(), cast: made = self.generate(noise).to(real.dtype)
        between = (real + share * (made - real)).requires_grad_(factor > 0)
        with cast: high, low = self.criticise(torch.cat((real, made))).to(real.dtype).chunk(2)
        loss = low.mean() - high.mean()
        if factor > 0:
            with cast: judged = self.criticise(between)
            slope = torch.autograd.grad(judged.to(real.dtype).sum(), between, create_graph=True)[0].to(real.dtype).flatten(1)
            loss = loss + factor * ((slope.square().sum(1) + 1e-12).sqrt() - 1).square().mean()
        update.zero_grad()
        loss.backward()
        update.step()
        return loss.item()

    def step_generator(self, update, noise, cast):
        with cast: judged = self.criticise(self.generate(noise))
        loss = -judged.to(noise.dtype).mean()
        update.zero_grad()
        loss.backward(inputs=list(self.generator.parameters()))
        update.step()
        return loss.item()


def seconds(penalty, precision, steps, threads, channels_last):
    torch.set_num_threads(threads)
    model, batch = Wgan(), 64
    if channels_last: model = model.to(memory_format=torch.channels_last)
    rule = torch.optim.Adam if penalty else torch.optim.RMSprop
    options = {"lr": 1e-4, "betas": (0.5, 0.9), "fused": True} if penalty else {"lr": 5e-5}
    critic, generator = (rule(part.parameters(), **options) for part in (model.critic, model.generator))
    cast = torch.autocast("cpu", torch.bfloat16, enabled=precision == "bf16")
    images, spent = torch.rand(1000, 1, 32, 32) * 2 - 1, []
    for _ in range(steps + 2):
        begin = time.perf_counter(), time.process_time()
        for _ in range(model.CRITIC):
            real = images[torch.randint(1000, (batch,))]
            model.step_critic(critic, real, torch.randn(batch, model.NOISE), torch.rand(batch, 1, 1, 1), penalty, cast)
            if not penalty:
                with torch.no_grad(): [p.clamp_(-0.01, 0.01) for p in model.critic.parameters()]
        model.step_generator(generator, torch.randn(batch, model.NOISE), cast)
        spent.append((time.perf_counter() - begin[0], time.process_time() - begin[1]))
    return [min(one) for one in zip(*spent[2:])]


def golden(network):
    b, i = torch.arange(COUNT).double(), torch.arange(SIDE * SIDE).double()
    x = torch.sin(0.9 * (b[:, None] + 1) + 0.31 * (i + 1) * (b[:, None] + 1)).float().double()
    z = torch.sin(1.7 * (torch.arange(COUNT * NOISE).double() + 1)).float().double().view(COUNT, NOISE)
    x = x.view(COUNT, 1, SIDE, SIDE).requires_grad_()
    slope = torch.autograd.grad(network.criticise(x).sum(), x, create_graph=True)[0].flatten(1)
    penalty = (((slope.square().sum(1) + 1e-12).sqrt() - 1) ** 2).sum()
    made = -network.criticise(network.generate(z)).sum()
    (penalty + made).backward()
    print(f"penalty {penalty.item():.8f}, generator {made.item():.8f}")
    for name, p in network.leaves.items():
        g = p.grad.flatten()
        print('    {"%s", %.8f},' % (name, (g * torch.cos(torch.arange(g.numel()).double())).sum().item()))


if __name__ == "__main__":
    if len(sys.argv) == 1:
        golden(Plain())
        golden(Residual())
    else:
        figures = float(sys.argv[1]), sys.argv[2], int(sys.argv[3]), int(sys.argv[4])
        for last in (False, True):
            print("%s: %.4f s by the clock, %.4f s of processor time" % ("channels last" if last else "channels first",
                                                                         *seconds(*figures, last)))
