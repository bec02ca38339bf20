/*
 * From the boot loader to C (Multiboot 0.6.96: 32-bit protected mode, flat segments, no paging), and from interrupts
 * to C. No 64-bit mode: nothing here needs it, and page tables and mode switches are more that an emulating KVM can
 * trip over.
 */
	.set	MAGIC, 0x1badb002
	.set	FLAGS, 3			/* modules at pages, memory sizes */

	.section .multiboot, "a"
	.balign	4
	.long	MAGIC, FLAGS, -(MAGIC + FLAGS)

	.text
	.globl	start
start:
	cli
	cld
	movl	$stack_end, %esp
	lgdt	gdt_pointer
	ljmp	$8, $1f
1:	movl	$16, %ecx
	movl	%ecx, %ds
	movl	%ecx, %es
	movl	%ecx, %fs
	movl	%ecx, %gs
	movl	%ecx, %ss
	andl	$-16, %esp
	subl	$8, %esp
	pushl	%ebx				/* the boot loader's information */
	pushl	%eax				/* its magic number */
	call	probe_main
2:	hlt
	jmp	2b

	.globl	interrupts_load
interrupts_load:
	lidt	idt_pointer
	ret

/*
 * What IRET does, with %eax and %edx on top of the stack: the flags and the return address change places to where POPF
 * and RET want them. KVM's instruction emulator has IRET for real mode only.
 */
	.macro	leave_interrupt
	movl	8(%esp), %eax
	movl	16(%esp), %edx
	movl	%edx, 12(%esp)
	movl	%eax, 16(%esp)
	popl	%edx
	popl	%eax
	leal	4(%esp), %esp
	popfl
	ret
	.endm

/* The disk's interrupt. The counter comes first: that instant is what is measured. */
	.globl	on_disk
on_disk:
	pushl	%eax
	pushl	%edx
	rdtsc
	pushl	%ecx
	cld
	pushl	%edx
	pushl	%eax
	call	machine_on_disk
	addl	$8, %esp
	popl	%ecx
	leave_interrupt

/* Nobody's: a spurious one wants no acknowledgement ... */
	.globl	on_nothing
on_nothing:
	pushl	%eax
	pushl	%edx
	leave_interrupt

/* ... but that of the second controller came by way of the first, which does not know that it was none. */
	.globl	on_spurious2
on_spurious2:
	pushl	%eax
	pushl	%edx
	movb	$0x20, %al
	outb	%al, $0x20
	leave_interrupt

/* Traps 0 to 31, 16 bytes apart. Those without an error code get one. */
	.balign	16
	.globl	on_trap
on_trap:
	.set	number, 0
	.rept	32
	.balign	16
	.if	!(number == 8 || (number >= 10 && number <= 14) || number == 17 || number == 21 || number == 29 || number == 30)
	pushl	$0
	.endif
	pushl	$number
	jmp	trap
	.set	number, number + 1
	.endr

trap:
	cld
	pushl	%esp
	call	machine_on_trap

	.section .rodata
	.balign	8
gdt:
	.quad	0
	.quad	0x00cf9b000000ffff		/* code and data of 4 GiB from 0 */
	.quad	0x00cf93000000ffff
gdt_pointer:
	.word	gdt_pointer - gdt - 1
	.long	gdt
idt_pointer:
	.word	8 * 256 - 1
	.long	idt

	.bss
	.balign	16
	.skip	65536
stack_end:

	.section .note.GNU-stack, "", @progbits
