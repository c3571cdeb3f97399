# SPDX-License-Identifier: Apache-2.0
# Golden figures of test_wgan.c: both pairs of networks as PyTorch computes them, in double. Prints the penalty of the critic's gradient
# (create_graph), the generator's loss, and of each parameter's gradient g the sum of g[i] cos(i) in DAWN's order of elements.
#
#   torch_wgan.py
import torch
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
    golden(Plain())
    golden(Residual())
