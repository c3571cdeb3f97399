#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""Runs a command whose processes live on machines of their own: network namespaces that a slow network connects.

    network.py MACHINES RATE DELAY_MS COMMAND...
    network.py 4 1gbit 10 dawn bench cifar10 --fake --scaling 1,4 --threads 1 --launcher LAUNCH

The word LAUNCH in the command becomes an mpirun that starts one process in each namespace and talks TCP alone. Each namespace has
a TUN device. tc (tbf) limits what leaves it to RATE. This program passes every packet on after DELAY_MS, one way. Many kernels
lack netem, which would do both. Segments are not cut before they reach TCP again (TSO), so a packet of 64 KiB is one read and one
write here. Needs root, iproute2, Open MPI 4 and /dev/net/tun. The namespaces vanish with the program.
"""
import collections
import fcntl
import os
import select
import signal
import stat
import struct
import subprocess
import sys
import tempfile
import time

TUNSETIFF, TUNSETOFFLOAD = 0x400454CA, 0x400454D0
IFF_TUN, IFF_NO_PI, IFF_VNET_HDR = 0x0001, 0x1000, 0x4000
CHECKSUMS, TSO4 = 1, 2
VNET_HEADER = 10  # of the kernel, before the packet
DESTINATION = VNET_HEADER + 16  # of an IPv4 packet
NETWORK = "10.77.0"

LAUNCH = """#!/bin/sh
exec ip netns exec {space}1 unshare --uts sh -c 'hostname dawn-1; exec mpirun "$@"' mpirun --mca plm rsh \\
    --mca plm_rsh_agent {agent} --mca pml ob1 --mca btl tcp,self --mca btl_tcp_if_include {network}.0/24 \\
    --mca oob_tcp_if_include {network}.0/24 --host {hosts} --map-by node --bind-to none "$@"
"""
# mpirun calls it like ssh: the machine, then a line for its shell.
AGENT = """#!/bin/sh
machine=${{1##*.}}
shift
exec ip netns exec {space}"$machine" unshare --uts sh -c "hostname dawn-$machine; $*"
"""


def run(*words):
    subprocess.run(words, check=True, stdin=subprocess.DEVNULL)


def open_tun(name):
    fd = os.open("/dev/net/tun", os.O_RDWR | os.O_NONBLOCK | os.O_CLOEXEC)
    fcntl.ioctl(fd, TUNSETIFF, struct.pack("16sH14x", name.encode(), IFF_TUN | IFF_NO_PI | IFF_VNET_HDR))
    fcntl.ioctl(fd, TUNSETOFFLOAD, CHECKSUMS | TSO4)
    return fd


def make_machine(space, number, rate):
    name, tun = f"{space}{number}", f"{space}t{number}"
    run("ip", "netns", "add", name)
    fd = open_tun(tun)
    run("ip", "link", "set", tun, "netns", name)
    inside = ("ip", "netns", "exec", name)
    run(*inside, "ip", "link", "set", "lo", "up")
    run(*inside, "ip", "address", "add", f"{NETWORK}.{number}/24", "dev", tun)
    run(*inside, "ip", "link", "set", tun, "mtu", "1500", "txqueuelen", "10000", "up")
    run(*inside, "tc", "qdisc", "add", "dev", tun, "root", "tbf", "rate", rate, "burst", "256kb", "latency", "100ms")
    return fd


def write_script(path, text):
    with open(path, "w") as file:
        file.write(text)
    os.chmod(path, stat.S_IRWXU)


def pass_on(fds, delay, child):
    """Until the command ends. Every packet waits equally long, so the first to come is the first to leave."""
    waiting = collections.deque()
    number_of = {bytes([10, 77, 0, i + 1]): fd for i, fd in enumerate(fds)}
    asked = 0.0
    while True:
        now = time.monotonic()
        if now - asked > 0.05:
            asked = now
            if child.poll() is not None:
                return
        while waiting and waiting[0][0] <= now:
            _, fd, packet = waiting.popleft()
            try:
                os.write(fd, packet)
            except OSError:  # the device has no room: the packet is lost, as in a network
                pass
        timeout = min(max(waiting[0][0] - time.monotonic(), 0), 0.05) if waiting else 0.05
        for fd in select.select(fds, [], [], timeout)[0]:
            for _ in range(64):
                try:
                    packet = os.read(fd, 1 << 17)
                except BlockingIOError:
                    break
                to = number_of.get(packet[DESTINATION : DESTINATION + 4])
                if to is not None and packet[VNET_HEADER] >> 4 == 4:
                    waiting.append((time.monotonic() + delay, to, packet))


def main():
    if len(sys.argv) < 5:
        sys.exit(__doc__)
    machines, rate, delay = int(sys.argv[1]), sys.argv[2], float(sys.argv[3]) / 1000
    if not 1 <= machines <= 64:
        sys.exit("network.py: between 1 and 64 machines")
    signal.signal(signal.SIGTERM, lambda *_: sys.exit(143))
    space, fds, child = f"dawn{os.getpid() % 100000}n", [], None
    os.environ.update(OMPI_ALLOW_RUN_AS_ROOT="1", OMPI_ALLOW_RUN_AS_ROOT_CONFIRM="1", OMPI_MCA_mpi_yield_when_idle="1")
    with tempfile.TemporaryDirectory() as folder:
        launch, agent = f"{folder}/launch", f"{folder}/agent"
        hosts = ",".join(f"{NETWORK}.{i + 1}:1" for i in range(machines))
        write_script(launch, LAUNCH.format(space=space, agent=agent, network=NETWORK, hosts=hosts))
        write_script(agent, AGENT.format(space=space))
        try:
            for i in range(machines):
                fds.append(make_machine(space, i + 1, rate))
            child = subprocess.Popen([launch if word == "LAUNCH" else word for word in sys.argv[4:]])
            pass_on(fds, delay, child)
        finally:
            if child is not None and child.poll() is None:
                child.terminate()
                child.wait()
            for i in range(machines):
                subprocess.run(["ip", "netns", "del", f"{space}{i + 1}"], stderr=subprocess.DEVNULL, check=False)
    sys.exit(child.returncode)


if __name__ == "__main__":
    main()
