! SPDX-License-Identifier: Apache-2.0
! matrix_fortran.F90 - usage: matrix_f90|matrix_f08 JOURNAL_DIRECTORY, 4 ranks. What Fortran calls by `use mpi`, or with
! MPI_F08 by `use mpi_f08`, and what it writes down of it (matrix_journal.h). Rank 0 prints `result checksum=NUMBER`.
#ifdef MPI_F08
#define HANDLE(kind) type(MPI_/**/kind)
#define STATUS type(MPI_Status)
#define STATUSES(n) type(MPI_Status), dimension(n)
#define OF_STATUS(s, field) s%field
#define OF_STATUSES(s, i, field) s(i)%field
#define OF_ONE(s, i) s(i)
#define MODULE_NAME mpi_f08
#else
#define HANDLE(kind) integer
#define STATUS integer, dimension(MPI_STATUS_SIZE)
#define STATUSES(n) integer, dimension(MPI_STATUS_SIZE, n)
#define OF_STATUS(s, field) s(field)
#define OF_STATUSES(s, i, field) s(field, i)
#define OF_ONE(s, i) s(:, i)
#define MODULE_NAME mpi
#endif

module journal
	implicit none
	integer, parameter :: most = 1000
	character(len=160), save :: lines(most)
	integer, save :: n_lines = 0, n_ops = 0, unit_number = 20
	character, parameter :: tab = achar(9)
	integer(kind=8), save :: checksum = 17

contains

	subroutine write_line(line)
		character(len=*), intent(in) :: line

		n_lines = n_lines + 1
		if (n_lines > most) stop 'the journal is full'
		lines(n_lines) = line
	end subroutine

	function text(number) result(written)
		integer, intent(in) :: number
		character(len=:), allocatable :: written
		character(len=16) :: digits

		write (digits, '(i0)') number
		written = trim(digits)
	end function

	subroutine note_comm(name, rank, members, remote)
		character(len=*), intent(in) :: name, members
		integer, intent(in) :: rank
		character(len=*), intent(in), optional :: remote
		character(len=:), allocatable :: other

		other = ''
		if (present(remote)) other = remote
		! What follows the last tabulator may be empty, and blanks at the end are cut.
		call write_line('comm'//tab//name//tab//text(rank)//tab//members//tab//other)
	end subroutine

	! An op: elements of `bytes` each. What is not there is -1, and a type or reduction is '-'.
	integer function note(call_name, op, comm, count, bytes, dtype, redop, root, peer, tag, arrived)
		character(len=*), intent(in) :: call_name, op, comm
		integer, intent(in), optional :: count, bytes, root, peer, tag, arrived
		character(len=*), intent(in), optional :: dtype, redop
		character(len=:), allocatable :: type_name, redop_name
		integer :: numbers(6)

		type_name = '-'
		redop_name = '-'
		numbers = (/ 0, 0, -1, -1, -1, -1 /)
		if (present(count)) numbers(1) = count
		if (present(bytes)) numbers(2) = numbers(1) * bytes
		if (present(dtype)) type_name = dtype
		if (present(redop)) redop_name = redop
		if (present(root)) numbers(3) = root
		if (present(peer)) numbers(4) = peer
		if (present(tag)) numbers(5) = tag
		if (present(arrived)) numbers(6) = arrived
		call write_line('op'//tab//'0'//tab//call_name//tab//op//tab//comm//tab//text(numbers(1))//tab// &
			text(numbers(2))//tab//type_name//tab//redop_name//tab//text(numbers(3))//tab// &
			text(numbers(4))//tab//text(numbers(5))//tab//text(numbers(6))//tab//'finished')
		n_ops = n_ops + 1
		note = n_lines
	end function

	subroutine write_journal(directory, rank)
		character(len=*), intent(in) :: directory
		integer, intent(in) :: rank
		integer :: i

		open (unit=unit_number, file=directory//'/'//text(rank)//'.journal', status='replace')
		do i = 1, n_lines
			if (lines(i)(1:4) == 'comm') then
				if (count_tabs(trim(lines(i))) == 3) lines(i) = trim(lines(i))//tab
			end if
			write (unit_number, '(a)') trim(lines(i))
		end do
		write (unit_number, '(a)') 'end'//tab//text(n_ops)
		close (unit_number)
	end subroutine

	integer function count_tabs(line)
		character(len=*), intent(in) :: line
		integer :: i

		count_tabs = 0
		do i = 1, len(line)
			if (line(i:i) == tab) count_tabs = count_tabs + 1
		end do
	end function

	subroutine fold(numbers)
		integer, intent(in) :: numbers(:)
		integer :: i

		do i = 1, size(numbers)
			checksum = mod(checksum * 31 + numbers(i) + 5000, 1000000007_8)
		end do
	end subroutine

	subroutine fold_reals(numbers)
		double precision, intent(in) :: numbers(:)

		call fold(int(numbers * 2))
	end subroutine
end module

module parts
	use MODULE_NAME
	use journal
	implicit none
	integer, save :: rank, ranks, right, left, err, at
	integer, save :: a(64), b(64)
	double precision, save :: x(64), y(64)

contains

	subroutine fill()
		integer :: i

		do i = 1, 64
			a(i) = mod(i * 7 + n_ops * 3, 100) + rank
			b(i) = a(i) + 1
			x(i) = a(i) * 0.5d0
			y(i) = x(i) + 1
		end do
	end subroutine

	subroutine fold_all()
		call fold(b)
		call fold_reals(y)
	end subroutine

	subroutine collectives(comm)
		HANDLE(Comm), intent(in) :: comm
		integer :: counts(4) = (/ 1, 2, 3, 1 /), offsets(4) = (/ 0, 1, 3, 6 /)
		integer :: same(4), other(4), mine, byte_offsets(4), byte_other(4)
		HANDLE(Datatype) :: types(4)

		mine = counts(rank + 1)
		same = mine
		other = (/ 0, mine, 2 * mine, 3 * mine /)
		byte_offsets = offsets * 4
		byte_other = other * 4
		types = MPI_INTEGER
		call fill()
		at = note('MPI_Barrier', 'Barrier', 'world')
		call MPI_Barrier(comm, err)
		at = note('MPI_Bcast', 'Broadcast', 'world', 5, 4, 'int32', root=1)
		call MPI_Bcast(b, 5, MPI_INTEGER, 1, comm, err)
		at = note('MPI_Bcast', 'Broadcast', 'world', 4, 8, 'float64', root=0)
		call MPI_Bcast(y, 4, MPI_DOUBLE_PRECISION, 0, comm, err)
		at = note('MPI_Gather', 'Gather', 'world', 3, 4, 'int32', root=1)
		call MPI_Gather(a, 3, MPI_INTEGER, b, 3, MPI_INTEGER, 1, comm, err)
		call fold_all()
		at = note('MPI_Gatherv', 'Gather', 'world', mine, 4, 'int32', root=2)
		call MPI_Gatherv(a, mine, MPI_INTEGER, b, counts, offsets, MPI_INTEGER, 2, comm, err)
		at = note('MPI_Scatter', 'Scatter', 'world', 2, 8, 'float64', root=0)
		call MPI_Scatter(x, 2, MPI_DOUBLE_PRECISION, y, 2, MPI_DOUBLE_PRECISION, 0, comm, err)
		at = note('MPI_Scatterv', 'Scatter', 'world', mine, 4, 'int32', root=3)
		call MPI_Scatterv(a, counts, offsets, MPI_INTEGER, b, mine, MPI_INTEGER, 3, comm, err)
		call fold_all()
		at = note('MPI_Allgather', 'AllGather', 'world', 2, 4, 'int32')
		call MPI_Allgather(a, 2, MPI_INTEGER, b, 2, MPI_INTEGER, comm, err)
		at = note('MPI_Allgatherv', 'AllGather', 'world', mine, 4, 'int32')
		call MPI_Allgatherv(MPI_IN_PLACE, 0, MPI_DATATYPE_NULL, b, counts, offsets, MPI_INTEGER, comm, err)
		at = note('MPI_Alltoall', 'AllToAll', 'world', 2, 4, 'int32')
		call MPI_Alltoall(a, 2, MPI_INTEGER, b, 2, MPI_INTEGER, comm, err)
		at = note('MPI_Alltoallv', 'AllToAll', 'world', 7, 4, 'int32')
		call MPI_Alltoallv(a, counts, offsets, MPI_INTEGER, b, same, other, MPI_INTEGER, comm, err)
		at = note('MPI_Alltoallw', 'AllToAll', 'world', 28, 1, 'elem1')
		call MPI_Alltoallw(a, counts, byte_offsets, types, b, same, byte_other, types, comm, err)
		call fold_all()
		at = note('MPI_Reduce', 'Reduce', 'world', 4, 8, 'float64', 'sum', root=1)
		call MPI_Reduce(x, y, 4, MPI_DOUBLE_PRECISION, MPI_SUM, 1, comm, err)
		at = note('MPI_Allreduce', 'AllReduce', 'world', 6, 4, 'int32', 'max')
		call MPI_Allreduce(a, b, 6, MPI_INTEGER, MPI_MAX, comm, err)
		at = note('MPI_Allreduce', 'AllReduce', 'world', 7, 8, 'float64', 'sum')
		call MPI_Allreduce(MPI_IN_PLACE, y, 7, MPI_DOUBLE_PRECISION, MPI_SUM, comm, err)
		at = note('MPI_Reduce_scatter', 'ReduceScatter', 'world', mine, 4, 'int32', 'sum')
		call MPI_Reduce_scatter(a, b, counts, MPI_INTEGER, MPI_SUM, comm, err)
		at = note('MPI_Reduce_scatter_block', 'ReduceScatter', 'world', 2, 4, 'int32', 'min')
		call MPI_Reduce_scatter_block(a, b(20:21), 2, MPI_INTEGER, MPI_MIN, comm, err)
		at = note('MPI_Scan', 'Scan', 'world', 3, 4, 'int32', 'sum')
		call MPI_Scan(a, b(30:32), 3, MPI_INTEGER, MPI_SUM, comm, err)
		at = note('MPI_Exscan', 'Exscan', 'world', 3, 8, 'float64', 'prod')
		call MPI_Exscan(x, y(30:32), 3, MPI_DOUBLE_PRECISION, MPI_PROD, comm, err)
		if (rank == 0) y(30:32) = 0
		call fold_all()
	end subroutine

	subroutine nonblocking(comm)
		HANDLE(Comm), intent(in) :: comm
		HANDLE(Request) :: requests(4)
		integer :: which
		logical :: done

		call fill()
		at = note('MPI_Ibarrier', 'Barrier', 'world')
		call MPI_Ibarrier(comm, requests(1), err)
		call MPI_Wait(requests(1), MPI_STATUS_IGNORE, err)
		at = note('MPI_Ibcast', 'Broadcast', 'world', 5, 4, 'int32', root=1)
		call MPI_Ibcast(b, 5, MPI_INTEGER, 1, comm, requests(1), err)
		at = note('MPI_Iallreduce', 'AllReduce', 'world', 4, 8, 'float64', 'sum')
		call MPI_Iallreduce(x, y, 4, MPI_DOUBLE_PRECISION, MPI_SUM, comm, requests(2), err)
		at = note('MPI_Ialltoall', 'AllToAll', 'world', 2, 4, 'int32')
		call MPI_Ialltoall(a, 2, MPI_INTEGER, b(20:27), 2, MPI_INTEGER, comm, requests(3), err)
		call MPI_Waitall(3, requests, MPI_STATUSES_IGNORE, err)
		at = note('MPI_Iallgather', 'AllGather', 'world', 2, 4, 'int32')
		call MPI_Iallgather(a, 2, MPI_INTEGER, b, 2, MPI_INTEGER, comm, requests(1), err)
		done = .false.
		do while (.not. done)
			call MPI_Test(requests(1), done, MPI_STATUS_IGNORE, err)
		end do
		at = note('MPI_Iscan', 'Scan', 'world', 3, 4, 'int32', 'sum')
		call MPI_Iscan(a, b(40:42), 3, MPI_INTEGER, MPI_SUM, comm, requests(1), err)
		call MPI_Waitany(1, requests, which, MPI_STATUS_IGNORE, err)
		call fold_all()
	end subroutine

	! Fortran's own types, and one that the program makes.
	subroutine types(comm)
		HANDLE(Comm), intent(in) :: comm
		HANDLE(Datatype) :: pair
		real :: r(4)
		complex :: c(4)
		logical :: l(4)
		character(len=8) :: word
		integer(kind=8) :: wide(4)

		r = rank
		c = cmplx(rank, 1)
		l = rank == 0
		wide = rank
		word = 'rank '//text(rank)
		at = note('MPI_Bcast', 'Broadcast', 'world', 4, 4, 'float32', root=0)
		call MPI_Bcast(r, 4, MPI_REAL, 0, comm, err)
		at = note('MPI_Bcast', 'Broadcast', 'world', 4, 8, 'complex64', root=1)
		call MPI_Bcast(c, 4, MPI_COMPLEX, 1, comm, err)
		at = note('MPI_Bcast', 'Broadcast', 'world', 4, 4, 'elem4', root=0)
		call MPI_Bcast(l, 4, MPI_LOGICAL, 0, comm, err)
		at = note('MPI_Bcast', 'Broadcast', 'world', 6, 1, 'int8', root=2)
		call MPI_Bcast(word, 6, MPI_CHARACTER, 2, comm, err)
		at = note('MPI_Bcast', 'Broadcast', 'world', 4, 8, 'int64', root=3)
		call MPI_Bcast(wide, 4, MPI_INTEGER8, 3, comm, err)
		call MPI_Type_contiguous(2, MPI_DOUBLE_PRECISION, pair, err)
		call MPI_Type_commit(pair, err)
		call fill()
		at = note('MPI_Bcast', 'Broadcast', 'world', 32, 1, 'elem1', root=0)
		call MPI_Bcast(y, 2, pair, 0, comm, err)
		call MPI_Type_free(pair, err)
		call fold(int(r))
		call fold(int(real(c)))
		call fold(merge(1, 0, l))
		call fold(int(wide))
		call fold((/ iachar(word(6:6)) /))
		call fold_all()
	end subroutine

	subroutine messages(comm)
		HANDLE(Comm), intent(in) :: comm
		integer :: down, up, count, i, sum
		logical :: there
		STATUS :: s
		HANDLE(Message) :: message

		call fill()
		at = note('MPI_Sendrecv', 'Send', 'world', 4, 4, 'int32', peer=right, tag=1)
		at = note('MPI_Sendrecv', 'Recv', 'world', 8, 4, 'int32', peer=left, tag=1, arrived=16)
		call MPI_Sendrecv(a, 4, MPI_INTEGER, right, 1, b, 8, MPI_INTEGER, left, 1, comm, s, err)
		call MPI_Get_count(s, MPI_INTEGER, count, err)
		call fold((/ count, OF_STATUS(s, MPI_SOURCE), OF_STATUS(s, MPI_TAG) /))
		! A line is a ring without one edge.
		up = right
		down = left
		if (rank == ranks - 1) up = MPI_PROC_NULL
		if (rank == 0) down = MPI_PROC_NULL
		if (rank /= ranks - 1) at = note('MPI_Sendrecv', 'Send', 'world', 3, 8, 'float64', peer=up, tag=2)
		if (rank /= 0) at = note('MPI_Sendrecv', 'Recv', 'world', 3, 8, 'float64', peer=down, tag=2)
		call MPI_Sendrecv(x, 3, MPI_DOUBLE_PRECISION, up, 2, y, 3, MPI_DOUBLE_PRECISION, down, 2, comm, &
			MPI_STATUS_IGNORE, err)
		if (mod(rank, 2) == 0) then
			at = note('MPI_Send', 'Send', 'world', 5, 4, 'int32', peer=right, tag=3)
			call MPI_Send(a, 5, MPI_INTEGER, right, 3, comm, err)
			at = note('MPI_Ssend', 'Send', 'world', 6, 4, 'int32', peer=right, tag=3)
			call MPI_Ssend(a, 6, MPI_INTEGER, right, 3, comm, err)
			at = note('MPI_Send', 'Send', 'world', 2, 4, 'int32', peer=right, tag=4)
			call MPI_Send(a, 2, MPI_INTEGER, right, 4, comm, err)
			at = note('MPI_Send', 'Send', 'world', 3, 4, 'int32', peer=right, tag=5)
			call MPI_Send(a, 3, MPI_INTEGER, right, 5, comm, err)
		else
			at = note('MPI_Recv', 'Recv', 'world', 5, 4, 'int32', peer=left, tag=3)
			call MPI_Recv(b, 5, MPI_INTEGER, left, 3, comm, MPI_STATUS_IGNORE, err)
			at = note('MPI_Recv', 'Recv', 'world', 9, 4, 'int32', peer=left, tag=3, arrived=24)
			call MPI_Recv(b(10:18), 9, MPI_INTEGER, left, 3, comm, MPI_STATUS_IGNORE, err)
			call MPI_Probe(left, 4, comm, s, err)
			call MPI_Get_count(s, MPI_INTEGER, count, err)
			at = note('MPI_Recv', 'Recv', 'world', count, 4, 'int32', peer=left, tag=4)
			call MPI_Recv(b(20:21), count, MPI_INTEGER, left, 4, comm, MPI_STATUS_IGNORE, err)
			there = .false.
			do while (.not. there)
				call MPI_Improbe(MPI_ANY_SOURCE, 5, comm, there, message, s, err)
			end do
			at = note('MPI_Mrecv', 'Recv', 'world', 3, 4, 'int32', peer=left, tag=5)
			call MPI_Mrecv(b(22:24), 3, MPI_INTEGER, message, s, err)
		end if
		call fold_all()
		! From anybody: what comes first is the system's choice, so the sum is the result.
		sum = 0
		if (rank == 0) then
			do i = 1, ranks - 1
				call MPI_Recv(b, 9, MPI_INTEGER, MPI_ANY_SOURCE, MPI_ANY_TAG, comm, s, err)
				at = note('MPI_Recv', 'Recv', 'world', 9, 4, 'int32', peer=OF_STATUS(s, MPI_SOURCE), &
					tag=OF_STATUS(s, MPI_TAG), arrived=4*OF_STATUS(s, MPI_SOURCE))
				sum = sum + b(1) * OF_STATUS(s, MPI_TAG)
			end do
		else
			at = note('MPI_Send', 'Send', 'world', rank, 4, 'int32', peer=0, tag=10+rank)
			call MPI_Send(a, rank, MPI_INTEGER, 0, 10 + rank, comm, err)
		end if
		call fold((/ sum /))
		at = note('MPI_Barrier', 'Barrier', 'world')
		call MPI_Barrier(comm, err)
	end subroutine

	subroutine requests(comm)
		HANDLE(Comm), intent(in) :: comm
		HANDLE(Request) :: r(4)
		STATUSES(4) :: s
		integer :: i, got, which(4), seen
		logical :: done

		call fill()
		at = note('MPI_Irecv', 'Recv', 'world', 4, 4, 'int32', peer=left, tag=20)
		call MPI_Irecv(b, 4, MPI_INTEGER, left, 20, comm, r(1), err)
		at = note('MPI_Irecv', 'Recv', 'world', 9, 8, 'float64', peer=right, tag=21, arrived=24)
		call MPI_Irecv(y, 9, MPI_DOUBLE_PRECISION, right, 21, comm, r(2), err)
		at = note('MPI_Isend', 'Send', 'world', 4, 4, 'int32', peer=right, tag=20)
		call MPI_Isend(a, 4, MPI_INTEGER, right, 20, comm, r(3), err)
		at = note('MPI_Issend', 'Send', 'world', 3, 8, 'float64', peer=left, tag=21)
		call MPI_Issend(x, 3, MPI_DOUBLE_PRECISION, left, 21, comm, r(4), err)
		call MPI_Waitall(4, r, s, err)
		call MPI_Get_count(OF_ONE(s, 2), MPI_DOUBLE_PRECISION, got, err)
		call fold((/ got, OF_STATUSES(s, 1, MPI_SOURCE) /))
		call fold_all()
		! The same requests again and again.
		call MPI_Recv_init(b, 6, MPI_INTEGER, left, 22, comm, r(1), err)
		call MPI_Send_init(a, 6, MPI_INTEGER, right, 22, comm, r(2), err)
		do i = 1, 3
			call fill()
			at = note('MPI_Recv_init', 'Recv', 'world', 6, 4, 'int32', peer=left, tag=22)
			at = note('MPI_Send_init', 'Send', 'world', 6, 4, 'int32', peer=right, tag=22)
			if (i == 1) then
				call MPI_Start(r(1), err)
				call MPI_Start(r(2), err)
				call MPI_Waitall(2, r, MPI_STATUSES_IGNORE, err)
			else if (i == 2) then
				call MPI_Startall(2, r, err)
				seen = 0
				do while (seen < 2)
					call MPI_Waitsome(2, r, got, which, MPI_STATUSES_IGNORE, err)
					seen = seen + got
				end do
			else
				call MPI_Startall(2, r, err)
				done = .false.
				do while (.not. done)
					call MPI_Testall(2, r, done, MPI_STATUSES_IGNORE, err)
				end do
			end if
			call fold_all()
		end do
		call MPI_Request_free(r(1), err)
		call MPI_Request_free(r(2), err)
	end subroutine

	! Communicators of some kinds, and two groups that talk to each other.
	subroutine communicators()
		HANDLE(Comm) :: half, copy, ring, inter
		integer :: me, n
		integer :: lower_leader
		character(len=4) :: halves(0:1) = (/ 'even', 'odd ' /)
		character(len=3) :: members(0:1) = (/ '0,2', '1,3' /)

		call fill()
		call MPI_Comm_split(MPI_COMM_WORLD, mod(rank, 2), rank, half, err)
		call MPI_Comm_rank(half, me, err)
		call note_comm(trim(halves(mod(rank, 2))), me, members(mod(rank, 2)))
		at = note('MPI_Allreduce', 'AllReduce', trim(halves(mod(rank, 2))), 3, 4, 'int32', 'sum')
		call MPI_Allreduce(a, b, 3, MPI_INTEGER, MPI_SUM, half, err)
		call MPI_Comm_dup(MPI_COMM_WORLD, copy, err)
		call note_comm('copy', rank, '0,1,2,3')
		at = note('MPI_Bcast', 'Broadcast', 'copy', 2, 4, 'int32', root=3)
		call MPI_Bcast(b, 2, MPI_INTEGER, 3, copy, err)
		call MPI_Cart_create(MPI_COMM_WORLD, 1, (/ ranks /), (/ .true. /), .false., ring, err)
		call note_comm('ring', rank, '0,1,2,3')
		at = note('MPI_Neighbor_allgather', 'NeighborAllGather', 'ring', 2, 4, 'int32')
		call MPI_Neighbor_allgather(a, 2, MPI_INTEGER, b, 2, MPI_INTEGER, ring, err)
		at = note('MPI_Neighbor_alltoall', 'NeighborAllToAll', 'ring', 3, 4, 'int32')
		call MPI_Neighbor_alltoall(a, 3, MPI_INTEGER, b(10:15), 3, MPI_INTEGER, ring, err)
		lower_leader = mod(rank + 1, 2)
		call MPI_Intercomm_create(half, 0, MPI_COMM_WORLD, lower_leader, 5, inter, err)
		call note_comm('inter', me, members(mod(rank, 2)), members(lower_leader))
		at = note('MPI_Sendrecv', 'Send', 'inter', 2, 4, 'int32', peer=me, tag=1)
		at = note('MPI_Sendrecv', 'Recv', 'inter', 2, 4, 'int32', peer=me, tag=1)
		call MPI_Sendrecv(a, 2, MPI_INTEGER, me, 1, b(20:21), 2, MPI_INTEGER, me, 1, inter, MPI_STATUS_IGNORE, err)
		at = note('MPI_Allgather', 'AllGather', 'inter', 2, 4, 'int32')
		call MPI_Allgather(a, 2, MPI_INTEGER, b(30:33), 2, MPI_INTEGER, inter, err)
		call MPI_Comm_size(inter, n, err)
		call fold((/ n /))
		call MPI_Comm_free(inter, err)
		call MPI_Comm_free(ring, err)
		call MPI_Comm_free(copy, err)
		call MPI_Comm_free(half, err)
		call fold_all()
	end subroutine

	subroutine window()
		integer, asynchronous :: memory(16)
		integer(kind=MPI_ADDRESS_KIND) :: bytes = 64, offset = 2
		HANDLE(Win) :: win

		memory = 0
		call fill()
		call MPI_Win_create(memory, bytes, 4, MPI_INFO_NULL, MPI_COMM_WORLD, win, err)
		call note_comm('window', rank, '0,1,2,3')
		at = note('MPI_Win_fence', 'Fence', 'window')
		call MPI_Win_fence(0, win, err)
		at = note('MPI_Put', 'Put', 'window', 3, 4, 'int32', peer=right)
		call MPI_Put(a, 3, MPI_INTEGER, right, offset, 3, MPI_INTEGER, win, err)
		at = note('MPI_Win_fence', 'Fence', 'window')
		call MPI_Win_fence(0, win, err)
		at = note('MPI_Get', 'Get', 'window', 2, 4, 'int32', peer=left)
		call MPI_Get(b, 2, MPI_INTEGER, left, offset, 2, MPI_INTEGER, win, err)
		at = note('MPI_Win_fence', 'Fence', 'window')
		call MPI_Win_fence(0, win, err)
		call MPI_Win_free(win, err)
		call fold(memory)
		call fold_all()
	end subroutine
end module

program matrix_fortran
	use parts
	implicit none
	character(len=1000) :: directory
	integer(kind=8) :: all_of_them

	call get_command_argument(1, directory)
	call MPI_Init(err)
	call MPI_Comm_rank(MPI_COMM_WORLD, rank, err)
	call MPI_Comm_size(MPI_COMM_WORLD, ranks, err)
	if (ranks /= 4) stop 'not 4 ranks'
	right = mod(rank + 1, ranks)
	left = mod(rank + ranks - 1, ranks)
	call note_comm('world', rank, '0,1,2,3')
	call collectives(MPI_COMM_WORLD)
	call nonblocking(MPI_COMM_WORLD)
	call types(MPI_COMM_WORLD)
	call messages(MPI_COMM_WORLD)
	call requests(MPI_COMM_WORLD)
	call communicators()
	call window()
	at = note('MPI_Reduce', 'Reduce', 'world', 1, 8, 'int64', 'sum', root=0)
	call MPI_Reduce(checksum, all_of_them, 1, MPI_INTEGER8, MPI_SUM, 0, MPI_COMM_WORLD, err)
	if (rank == 0) write (*, '(a,i0)') 'result checksum=', all_of_them
	call write_journal(trim(directory), rank)
	call MPI_Finalize(err)
end program
