"""Machines that are none: network namespaces of this one, with time and bandwidth between them.

    with Network(3, seconds=0.001, bandwidth=125e6) as network:
        network.start(1, ["hostname", "-I"]).wait()

Every namespace has one address, 10.77.0.1 and on, on a TUN device; what it sends is read here, kept back for as long as
it would be on its way, and written to the device of whom it is for. So no kernel module is needed that delays packets,
nothing leaves this machine, and all of it is gone at the end. Needs root, ip and /dev/net/tun.
"""

import ctypes
import fcntl
import heapq
import multiprocessing
import os
import select
import struct
import subprocess
import time

MTU = 65_000
_LIBC = ctypes.CDLL(None, use_errno=True)


def address(machine):
    return f"10.77.0.{machine + 1}"


def why_not():
    """Why there can be no namespaces here; "": they can."""
    if os.geteuid() != 0:
        return "network namespaces need root"
    if not os.path.exists("/dev/net/tun"):
        return "there is no /dev/net/tun"
    try:
        with Network(1):
            return ""
    except (OSError, subprocess.CalledProcessError) as e:
        return f"no network namespaces here: {e}"


def _enter(namespace):
    if _LIBC.setns(namespace, 0):
        raise OSError(ctypes.get_errno(), "cannot enter a network namespace")


def enter(name):
    """From now on this process is on that machine."""
    namespace = os.open(f"/run/netns/{name}", os.O_RDONLY)
    _enter(namespace)
    os.close(namespace)


def _tun_in(path):
    """A TUN device of the namespace, open in this process."""
    own, there = os.open("/proc/self/ns/net", os.O_RDONLY), os.open(path, os.O_RDONLY)
    try:
        _enter(there)
        device = os.open("/dev/net/tun", os.O_RDWR | os.O_NONBLOCK)
        fcntl.ioctl(device, 0x400454CA, struct.pack("16sH", b"fwsr", 0x0001 | 0x1000))  # TUNSETIFF: IP packets, bare
    finally:
        _enter(own)
        os.close(own)
        os.close(there)
    return device


def _carry(devices, seconds, bandwidth):
    """Packets, each as long after it was sent as `seconds` and its bytes take."""
    places = {bytes([10, 77, 0, machine + 1]): device for machine, device in enumerate(devices)}
    free = dict.fromkeys(devices, 0.0)  # from when on each sends the next
    under_way, number = [], 0
    while True:
        wait = max(0.0, under_way[0][0] - time.monotonic()) if under_way else None
        for device in select.select(devices, [], [], wait)[0]:  # epoll counts whole milliseconds
            while True:
                try:
                    packet = os.read(device, MTU + 4)
                except BlockingIOError:
                    break
                now = time.monotonic()
                if bandwidth:
                    now = free[device] = max(now, free[device]) + len(packet) / bandwidth
                if packet[16:20] in places:
                    number += 1
                    heapq.heappush(under_way, (now + seconds, number, places[packet[16:20]], packet))
        while under_way and under_way[0][0] <= time.monotonic():
            _, _, to, packet = heapq.heappop(under_way)
            try:
                os.write(to, packet)
            except OSError:  # lost, as packets may be
                pass


class Network:
    """So many machines. `seconds`: one way; `bandwidth`: bytes a second that one can send, 0: no limit."""

    def __init__(self, machines, seconds=0.0, bandwidth=0.0):
        self.names = [f"fwsr-{os.getpid()}-{machine}" for machine in range(machines)]
        self.seconds, self.bandwidth = seconds, bandwidth
        self._relay = None

    def __enter__(self):
        try:
            devices = []
            for machine, name in enumerate(self.names):
                subprocess.run(["ip", "netns", "add", name], check=True, capture_output=True)
                devices.append(_tun_in(f"/run/netns/{name}"))
                for command in (["ip", "link", "set", "lo", "up"], ["ip", "link", "set", "fwsr", "mtu", str(MTU), "up"],
                                ["ip", "addr", "add", f"{address(machine)}/24", "dev", "fwsr"]):
                    subprocess.run(["ip", "netns", "exec", name, *command], check=True, capture_output=True)
            self._relay = multiprocessing.get_context("fork").Process(
                target=_carry, args=(devices, self.seconds, self.bandwidth), daemon=True)
            self._relay.start()
            for device in devices:
                os.close(device)
        except BaseException:
            self.__exit__()
            raise
        return self

    def __exit__(self, *_):
        if self._relay is not None:
            self._relay.kill()
            self._relay.join()
        for name in self.names:
            subprocess.run(["ip", "netns", "del", name], capture_output=True)

    def inside(self, machine, command):
        """The command that runs another there."""
        return ["ip", "netns", "exec", self.names[machine], *command]

    def start(self, machine, command, **how):
        return subprocess.Popen(self.inside(machine, command), **how)
