package main

import "syscall"

// endWithThread ends a process when the thread ends that started it, also by SIGKILL.
func endWithThread(attr *syscall.SysProcAttr) { attr.Pdeathsig = syscall.SIGKILL }
