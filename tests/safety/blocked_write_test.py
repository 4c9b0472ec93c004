"""Writes that wait for somebody to read: the first request ends them, and files stay as they were."""

import fcntl
import os
import select
import signal
import subprocess
import threading
import time

import campaign
from helpers import PROGRAM, Case, npy_bytes, random_rows, read_npy, wait_until_it_listens


def full_pipe():
    """Both ends of a pipe that takes nothing more."""
    reader, writer = os.pipe()
    flags = fcntl.fcntl(writer, fcntl.F_GETFL)
    fcntl.fcntl(writer, fcntl.F_SETFL, flags | os.O_NONBLOCK)
    try:
        while True:
            os.write(writer, b"x" * 4096)
    except BlockingIOError:
        pass
    fcntl.fcntl(writer, fcntl.F_SETFL, flags)
    return reader, writer


class Blocked(Case):
    def setUp(self):
        super().setUp()
        self.write("set.npy", npy_bytes(random_rows(300, 40)))
        self.write("c.npy", "before")

    def start(self, *args, **files):
        def prepare():
            for number in (signal.SIGINT, signal.SIGTERM, signal.SIGHUP, signal.SIGQUIT):
                signal.signal(number, signal.SIG_DFL)
        process = subprocess.Popen([PROGRAM, *args], cwd=self.folder, preexec_fn=prepare, **files)
        self.addCleanup(process.kill)
        return process

    def wait_for_part(self, process):
        """Until the codes are prepared: what is left to do is the write that waits."""
        for _ in range(15000):
            if self.leftovers():
                break
            self.assertIsNone(process.poll())
            time.sleep(0.02)
        time.sleep(0.3)

    def expect_end(self, process, number, message):
        self.assertIsNone(process.poll())
        process.send_signal(number)
        _, err = process.communicate(timeout=300)  # does not wait for whoever should read
        self.assertEqual(process.returncode, 128 + number, err)
        if message is not None:
            self.assertRegex(err.decode(), message)
        self.assertEqual((self.read("c.npy"), self.leftovers()), ("before", []))

    def test_named_pipe_without_reader(self):
        os.mkfifo(self.path("pipe"))
        for number in (signal.SIGINT, signal.SIGTERM, signal.SIGHUP, signal.SIGQUIT):
            process = self.start("select", "set.npy", "-k", "3", "--codes", "c.npy", "-o", "pipe",
                                 stderr=subprocess.PIPE)
            self.wait_for_part(process)
            self.expect_end(process, number, r"\Afwsr: interrupted; no file was changed\n\Z")

    def test_standard_output_that_nobody_reads(self):
        for number in (signal.SIGINT, signal.SIGTERM):
            reader, writer = os.pipe()
            process = self.start("select", "set.npy", "-k", "250", "--json", "--codes", "c.npy",
                                 stdout=writer, stderr=subprocess.PIPE)
            os.close(writer)
            self.wait_for_part(process)
            self.assertEqual(select.select([reader], [], [], 300)[0], [reader])  # it is being written
            self.expect_end(process, number, r"\Afwsr: interrupted; standard output has a part of the "
                                             r"result, no file was changed\n\Z")
            os.close(reader)

    def test_standard_output_that_is_full_from_the_start(self):
        reader, writer = full_pipe()
        process = self.start("inspect", "set.npy", stdout=writer, stderr=subprocess.PIPE)
        os.close(writer)
        wait_until_it_listens(process, signal.SIGINT)
        time.sleep(2)
        self.expect_end(process, signal.SIGINT, r"\Afwsr: interrupted; ")
        os.close(reader)

    def test_messages_that_nobody_reads(self):
        reader, writer = full_pipe()
        out = self.path("p.csv")
        process = self.start("select", "set.npy", "-k", "3", "-o", out, stderr=writer)
        os.close(writer)
        while not os.path.exists(out):
            self.assertIsNone(process.poll())
            time.sleep(0.02)
        time.sleep(0.3)
        process.send_signal(signal.SIGTERM)
        self.assertEqual(process.wait(300), 0)  # all is in place; only the summary was not read
        os.close(reader)

    def test_named_pipe_with_a_reader_gets_all(self):
        os.mkfifo(self.path("pipe"))
        seen = []

        def read():
            with open(self.path("pipe"), "rb") as file:
                seen.append(file.read())

        thread = threading.Thread(target=read)
        thread.start()
        self.succeed("select", "set.npy", "-k", "250", "--json", "-o", "pipe")
        thread.join(300)
        self.assertGreater(len(seen[0]), 65536)
        self.assertTrue(seen[0].endswith(b"}\n"))

    def test_files_are_there_when_the_reader_of_the_result_has_gone(self):
        reader, writer = os.pipe()
        os.close(reader)
        process = self.start("select", "set.npy", "-k", "3", "--codes", "c.npy", stdout=writer,
                             stderr=subprocess.PIPE)
        os.close(writer)
        _, err = process.communicate(timeout=300)
        self.assertEqual(process.returncode, 0, err)
        self.assertEqual(read_npy(self.path("c.npy"))[0], (300, 3))


if __name__ == "__main__":
    campaign.main()
