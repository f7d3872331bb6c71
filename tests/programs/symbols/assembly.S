/* Functions without DWARF, some without a type or a size. */
        .section .note.GNU-stack,"",%progbits
        .text
        .globl in_assembly
        .type in_assembly, %function
in_assembly:
        nop
        nop
#if defined(__x86_64__)
        lea 1(%rdi), %eax
        ret
#elif defined(__i386__)
        movl 4(%esp), %eax
        ret
#elif defined(__aarch64__)
        add w0, w0, #1
        ret
#else
        addi 3, 3, 1
        blr
#endif
        .size in_assembly, . - in_assembly
        .balign 16
        .globl without_size
        .type without_size, %function
without_size:
        nop
        nop
.Lmark:
        nop
        .globl without_type
without_type:
        nop
        nop
        nop
local_without_type:
        nop
        nop
        .globl outer_sized
        .type outer_sized, %function
outer_sized:
        nop
        nop
        .type inside, %function
inside:
        nop
        nop
        .size inside, . - inside
        nop
        nop
        .size outer_sized, . - outer_sized
        nop
        nop
        nop
