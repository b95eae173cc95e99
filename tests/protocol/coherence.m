-- SPDX-License-Identifier: GPL-2.0-or-later
-- The coherence protocols for one line: a second, independent model, for rumur (see murphi.sh).
--
-- Every order of messages, stores of either value of a one-bit line, evictions at any time: a stale
-- copy is a wrong value in some state.  The vocabulary is that of Nagarajan, Sorin, Hill and Wood,
-- "A Primer on Memory Consistency and Cache Coherence", 2nd ed., ch. 8: IM_AD waits for acks and
-- data, IM_A for acks only.
--
--   PROTOCOL  MESI, MESIF or MOESI
--   SILENT    0: a shared copy is given up with PutS, the sharers on record are exact;
--             1: it is dropped without a word, the sharers on record are a superset
--   BLOCKING  0: the home goes ahead to the next request, and caches stall what comes too early;
--             1: the home holds one transaction until the requester's Unblock
--   FAR       1: an atomic operation on a line in I or S is done at the home
--   BUG       0: the protocol; 1..20: one known mistake is planted.  Each is found in MESI with
--             three caches (20 not with two) in every variant that has it: 6 needs SILENT; 8 and
--             18 SILENT and the home that goes ahead; 10 exact sharers; 15 BLOCKING.
--   FDEPTH    asserted; reached with three caches: 2, and 3 in MOESI with the home that goes ahead

const
  N        : 3;
  PROTOCOL : 0;
  SILENT   : 0;
  BLOCKING : 0;
  FAR      : 0;
  BUG      : 0;
  FDEPTH   : 8;

  MESI     : 0;
  MESIF    : 1;
  MOESI    : 2;

type
  Proc  : scalarset(N);
  Val   : 0..1;
  Count : 0..N;

  CacheState : enum { I, IS_D, IS_D_I, IM_AD, IM_A, S, SM_AD, SM_A, E, M, MI_A, EI_A, SI_A, II_A,
                      F, FM_AD, O, OM_AC, II_R, SI_R };
  HomeState  : enum { HI, HS, HE, HM, SD, MF, HF, HO, HA, BE, BM, BS, BSD, BO };
  ReqType    : enum { NoReq, GetS, GetM, PutS, PutE, PutM, Far };
  FwdType    : enum { FwdGetS, FwdGetF, FwdGetM, Recall, Inv, InvHome, PutAck, AckCount };
  DataKind   : enum { Excl, Shared, Forward, Result };

  Cache     : record st : CacheState; d : Val; ack : -N..N; end;
  Request   : record t : ReqType; d : Val; end;
  Fwd       : record t : FwdType; r : Proc; acks : Count; end;
  FwdQueue  : record n : 0..FDEPTH; q : array [0..FDEPTH-1] of Fwd; end;
  Data      : record v : boolean; kind : DataKind; acks : Count; d : Val; end;
  WriteBack : record v : boolean; d : Val; end;
  Missed    : record v : boolean; r : Proc; end;
  Home      : record st : HomeState; owner : Proc; sh : array [Proc] of boolean; mem : Val;
                     far : Proc; answers : Count; end;

var
  c       : array [Proc] of Cache;
  req     : array [Proc] of Request;   -- in flight or waiting at the home
  fq      : array [Proc] of FwdQueue;  -- home -> cache, ordered
  dat     : array [Proc] of Data;      -- on its way to this cache
  ia      : array [Proc] of Count;     -- Inv-Acks on their way to this cache
  wb      : WriteBack;                 -- these five on their way to the home
  passed  : boolean;
  unblock : boolean;
  missed  : Missed;
  iaHome  : Count;
  home    : Home;
  latest  : Val;                       -- ghost: the last value stored, in coherence order

-- what states mean ------------------------------------------------------------------------------

function readable(s : CacheState) : boolean;
begin
  return s = S | s = SM_AD | s = SM_A | s = E | s = M | s = F | s = FM_AD | s = O | s = OM_AC
    | s = SI_R;
end;

function writable(s : CacheState) : boolean;
begin return s = E | s = M; end;

function atRest(s : CacheState) : boolean;
begin return s = I | s = S | s = E | s = M | s = F | s = O; end;

function homeAtRest() : boolean;
begin
  return home.st = HI | home.st = HS | home.st = HE | home.st = HM | home.st = HF | home.st = HO;
end;

function owns(p : Proc) : boolean;                -- on record
begin return !isundefined(home.owner) & home.owner = p; end;

function sharers() : Count;                       -- on record
var k : Count;
begin
  k := 0;
  for p : Proc do if home.sh[p] then k := k + 1; end; end;
  return k;
end;

-- an Inv that finds a load waiting may be meant for the copy under way
function invMayBeYounger() : boolean;
begin return BLOCKING = 0 & PROTOCOL != MESIF; end;

-- sending ---------------------------------------------------------------------------------------

procedure sendFwd(dst : Proc; t : FwdType);
begin
  assert fq[dst].n < FDEPTH "forward queue deeper than the bound";
  fq[dst].q[fq[dst].n].t := t;
  fq[dst].n := fq[dst].n + 1;
end;

procedure sendFwdFor(dst : Proc; t : FwdType; r : Proc);
begin
  sendFwd(dst, t);
  fq[dst].q[fq[dst].n - 1].r := r;
end;

procedure sendFwdGetM(dst : Proc; r : Proc; acks : Count);
begin
  sendFwdFor(dst, FwdGetM, r);
  fq[dst].q[fq[dst].n - 1].acks := acks;
end;

procedure sendAckCount(dst : Proc; acks : Count);
begin
  sendFwd(dst, AckCount);
  fq[dst].q[fq[dst].n - 1].acks := acks;
end;

procedure popFwd(p : Proc; at : 0..FDEPTH-1);
begin
  for k := at to FDEPTH - 2 do fq[p].q[k] := fq[p].q[k+1]; end;
  undefine fq[p].q[FDEPTH-1];
  fq[p].n := fq[p].n - 1;
end;

procedure sendData(dst : Proc; kind : DataKind; acks : Count; d : Val);
begin
  assert !dat[dst].v "two data messages in flight to one cache";
  dat[dst].v := true; dat[dst].kind := kind; dat[dst].acks := acks; dat[dst].d := d;
end;

procedure sendResult(dst : Proc);
begin
  assert !dat[dst].v "two data messages in flight to one cache";
  dat[dst].v := true; dat[dst].kind := Result; dat[dst].acks := 0;
end;

procedure sendWb(d : Val);
begin
  if BUG = 14 then return; end;                   -- 14: the home waits for data that never come
  assert !wb.v "two write-backs in flight";
  wb.v := true; wb.d := d;
end;

procedure sendUnblock();
begin
  assert !unblock "two Unblocks in flight";
  unblock := true;
end;

procedure complete();                             -- the requester has its permission
begin if BLOCKING = 1 then sendUnblock(); end; end;

-- the core side ---------------------------------------------------------------------------------

ruleset p : Proc do
  rule "load miss"     c[p].st = I ==> begin c[p].st := IS_D;  req[p].t := GetS; end;
  rule "store miss"    c[p].st = I ==> begin c[p].st := IM_AD; req[p].t := GetM; end;
  rule "upgrade S"     c[p].st = S ==> begin c[p].st := SM_AD; req[p].t := GetM; end;
  rule "upgrade F"     c[p].st = F ==> begin c[p].st := FM_AD; req[p].t := GetM; end;
  rule "upgrade O"     c[p].st = O ==> begin c[p].st := OM_AC; req[p].t := GetM; end;

  rule "evict S, F"    c[p].st = S | c[p].st = F ==>
  begin
    undefine c[p].d;
    if SILENT = 1 then c[p].st := I; else c[p].st := SI_A; req[p].t := PutS; end;
  end;

  rule "evict E"       c[p].st = E ==> begin c[p].st := EI_A; req[p].t := PutE; end;
  rule "evict M, O"    c[p].st = M | c[p].st = O ==>
  begin c[p].st := MI_A; req[p].t := PutM; req[p].d := c[p].d; end;

  -- in E and M it is a store hit, in F and O an upgrade
  rule "far"           FAR = 1 & c[p].st = I ==> begin c[p].st := II_R; req[p].t := Far; end;
  rule "far in S"      FAR = 1 & c[p].st = S ==> begin c[p].st := SI_R; req[p].t := Far; end;
end;

ruleset p : Proc; v : Val do
  rule "store hit" writable(c[p].st) ==>
  begin
    if BUG != 12 then c[p].st := M; end;          -- 12: the line stays clean
    c[p].d := v; latest := v;
  end;
end;

-- responses at a cache --------------------------------------------------------------------------

-- acks were counted: either all are in, or the rest is awaited in this state
procedure countedIn(p : Proc; waiting : CacheState);
begin
  if c[p].ack = 0 | BUG = 16 then                 -- 16: data taken for permission
    c[p].st := M; c[p].ack := 0; complete();
  else
    c[p].st := waiting;
    if BUG = 15 then complete(); end;             -- 15: Unblock before the acks are in
  end;
end;

procedure recvData(p : Proc; kind : DataKind);
begin
  switch c[p].st
  case IS_D:
    switch kind
    case Excl:    c[p].st := E; complete();
    case Shared:  c[p].st := S; complete();
    case Forward: c[p].st := F; sendUnblock();
    else error "Result in IS_D"; end;
  case IS_D_I:
    -- the load uses a shared copy once; an exclusive grant is younger than the Inv and is kept
    switch kind
    case Excl:
      if BUG = 8 then c[p].st := I; undefine c[p].d; else c[p].st := E; end;  -- 8: not kept
    case Shared:  c[p].st := I; undefine c[p].d;
    else error "Forward or Result in IS_D_I"; end;
    complete();
  case IM_AD:
    assert kind = Shared "other data than Shared for a store";
    countedIn(p, IM_A);
  case SM_AD, FM_AD:
    assert kind = Shared "other data than Shared for a store";
    countedIn(p, SM_A);
  case II_R:
    assert kind = Result "other data than Result in II_R";
    c[p].st := I;
  else error "data in a state that cannot take them"; end;
end;

ruleset p : Proc do
  rule "recv data" dat[p].v ==>
  begin
    c[p].ack := c[p].ack + dat[p].acks;
    if dat[p].kind != Result then c[p].d := dat[p].d; end;
    recvData(p, dat[p].kind);
    undefine dat[p];
    dat[p].v := false;
  end;

  rule "recv Inv-Ack" ia[p] > 0 ==>
  begin
    ia[p] := ia[p] - 1;
    switch c[p].st
    case IM_AD, SM_AD, FM_AD, OM_AC:
      if BUG != 7 then c[p].ack := c[p].ack - 1; end;  -- 7: an early Inv-Ack is lost
    case IM_A, SM_A:
      c[p].ack := c[p].ack - 1;
      if c[p].ack = 0 | BUG = 20 then             -- 20: the first Inv-Ack taken for the last
        c[p].st := M; c[p].ack := 0;
        if BUG != 15 then complete(); end;
      end;
    else
      if BUG != 16 then error "Inv-Ack in a state that cannot take it"; end;
    end;
  end;
end;

-- forwards at a cache ---------------------------------------------------------------------------

function stalls(s : CacheState; t : FwdType) : boolean;
begin
  switch t
  case FwdGetS, FwdGetM, Recall:
    return BLOCKING = 0 & (s = IS_D | s = IS_D_I | s = IM_AD | s = IM_A | s = SM_AD | s = SM_A
                           | s = FM_AD);
  case Inv, InvHome:
    -- a stale sharer must answer at once: its data may be waiting for this very ack
    if SILENT = 1 then return s = IS_D & BUG = 6; end;  -- 6: it stalls
    return s = IS_D & invMayBeYounger();
  else
    return false;
  end;
end;

procedure recvFwdGetS(p : Proc; r : Proc);
begin
  switch c[p].st
  case M, E, MI_A, EI_A:
    if PROTOCOL = MOESI then
      sendData(r, Shared, 0, c[p].d);
      if atRest(c[p].st) then c[p].st := O; end;
    else
      sendData(r, PROTOCOL = MESIF ? Forward : Shared, 0, c[p].d);
      sendWb(c[p].d);
      if atRest(c[p].st) then c[p].st := S; else c[p].st := SI_A; undefine c[p].d; end;
    end;
  case O, OM_AC:
    sendData(r, Shared, 0, c[p].d);
  else error "FwdGetS in a state that cannot take it"; end;
end;

procedure recvFwdGetF(p : Proc; r : Proc);
begin
  switch c[p].st
  case F:     sendData(r, Forward, 0, c[p].d); c[p].st := S;
  case FM_AD: sendData(r, Forward, 0, c[p].d); c[p].st := SM_AD;
  case SI_A, I, IS_D, IM_AD, II_R:                -- the copy is gone
    assert (SILENT = 1) = (c[p].st != SI_A) "FwdGetF where no copy was";
    assert !missed.v "two Missed in flight";
    missed.v := true; missed.r := r;
  else error "FwdGetF in a state that cannot take it"; end;
end;

procedure giveUp(p : Proc);                       -- the owner's copy, to another writer
begin
  switch c[p].st
  case M, E, O:
    if BUG = 17 & c[p].st != O then c[p].st := S; return; end;  -- 17: a copy is left behind
    c[p].st := I;
  case MI_A, EI_A:
    if BUG = 4 then c[p].st := I; else c[p].st := II_A; end;    -- 4: the Put is forgotten
  case OM_AC:
    c[p].st := IM_AD;
  else error "FwdGetM or Recall in a state that cannot take it"; end;
  undefine c[p].d;
end;

procedure recvFwdGetM(p : Proc; r : Proc; acks : Count);
begin
  sendData(r, Shared, acks, c[p].d);
  giveUp(p);
  if BLOCKING = 0 then
    assert !passed "two Passed in flight";
    passed := true;
  end;
end;

procedure recvInv(p : Proc);
begin
  switch c[p].st
  case S, F:         c[p].st := I; undefine c[p].d;
  case SM_AD, FM_AD:
    if BUG != 1 then c[p].st := IM_AD; undefine c[p].d; end;    -- 1: a lost upgrade keeps its data
  case SI_A:         c[p].st := II_A;
  -- every sharer on record is called in before a far operation, its requester too
  case SI_R:         c[p].st := II_R; undefine c[p].d;
  case I, IM_AD, II_R:
    assert SILENT = 1 "Inv where the sharers on record are exact";
  case IS_D:
    assert SILENT = 1 "Inv where the sharers on record are exact";
    if invMayBeYounger() & BUG != 18 then c[p].st := IS_D_I; end;  -- 18: the copy under way is kept
  case IS_D_I:       -- stay
  else error "Inv in a state that cannot take it"; end;
end;

procedure recvPutAck(p : Proc);
begin
  switch c[p].st
  case MI_A, EI_A: c[p].st := I; undefine c[p].d;
  case SI_A, II_A: c[p].st := I;
  else error "PutAck in a state that cannot take it"; end;
end;

procedure recvAckCount(p : Proc; acks : Count);
begin
  assert c[p].st = OM_AC "AckCount in a state that cannot take it";
  c[p].ack := c[p].ack + acks;
  countedIn(p, SM_A);
end;

ruleset p : Proc; at : 0..FDEPTH-1 do
  rule "recv forward"
    at < fq[p].n & (at = 0 | BUG = 11)            -- 11: the network does not keep the order
    & !stalls(c[p].st, fq[p].q[at].t)
  ==>
  begin
    alias m : fq[p].q[at] do
      switch m.t
      case FwdGetS:  recvFwdGetS(p, m.r);
      case FwdGetF:  recvFwdGetF(p, m.r);
      case FwdGetM:  recvFwdGetM(p, m.r, m.acks);
      case Recall:   sendWb(c[p].d); giveUp(p);
      case Inv:      ia[m.r] := ia[m.r] + 1; recvInv(p);
      case InvHome:  iaHome := iaHome + 1; recvInv(p);
      case PutAck:   recvPutAck(p);
      case AckCount: recvAckCount(p, m.acks);
      end;
    end;
    popFwd(p, at);
  end;
end;

-- the home: requests ----------------------------------------------------------------------------

procedure takeReq(p : Proc);
begin req[p].t := NoReq; undefine req[p].d; end;

procedure grantTo(p : Proc; going : HomeState; blocked : HomeState);
begin
  home.owner := p;
  home.st := BLOCKING = 1 ? blocked : going;
end;

function sharedOrIdle() : HomeState;
begin return sharers() > 0 ? HS : HI; end;

-- Inv to every sharer on record but p, the acks to p; no sharer is left on record
function invalidateFor(p : Proc) : Count;
var k : Count;
begin
  k := 0;
  for q : Proc do
    if home.sh[q] & q != p then sendFwdFor(q, Inv, p); k := k + 1; end;
    if home.sh[q] & q = p & BUG = 5 then k := k + 1; end;       -- 5: the requester is counted
    home.sh[q] := false;
  end;
  return k;
end;

procedure homeGetS(p : Proc);
begin
  switch home.st
  case HI:
    sendData(p, Excl, 0, home.mem);
    grantTo(p, HE, BE);
  case HS:
    home.sh[p] := true;
    if PROTOCOL = MESIF then
      sendData(p, Forward, 0, home.mem);
      home.owner := p; home.st := BS;
    else
      sendData(p, Shared, 0, home.mem);
      home.st := BLOCKING = 1 ? BS : HS;
    end;
  case HF:
    sendFwdFor(home.owner, FwdGetF, p);
    home.sh[p] := true; home.owner := p; home.st := BS;
  case HE, HM:
    assert home.owner != p "GetS from the owner";
    sendFwdFor(home.owner, FwdGetS, p);
    home.sh[p] := true;
    if PROTOCOL = MOESI then
      home.st := BLOCKING = 1 ? BO : HO;
    else
      if BUG != 9 then home.sh[home.owner] := true; end;        -- 9: the old owner is forgotten
      if PROTOCOL = MESIF then home.owner := p; else undefine home.owner; end;
      if BLOCKING = 1 | PROTOCOL = MESIF then
        home.st := BUG = 13 ? BS : BSD;                         -- 13: memory taken for current
      else
        home.st := BUG = 13 ? HS : SD;
      end;
    end;
  case HO:
    assert home.owner != p "GetS from the owner";
    sendFwdFor(home.owner, FwdGetS, p);
    home.sh[p] := true;
    home.st := BLOCKING = 1 ? BO : HO;
  end;
end;

procedure homeGetM(p : Proc);
begin
  switch home.st
  case HI:
    sendData(p, Shared, 0, home.mem);
    grantTo(p, HM, BM);
  case HS, HF:
    sendData(p, Shared, invalidateFor(p), home.mem);
    grantTo(p, HM, BM);
  case HE, HM, HO:
    if home.owner = p then
      assert PROTOCOL = MOESI & home.st != HE "GetM from the owner";
      sendAckCount(p, invalidateFor(p));
      grantTo(p, HM, BM);
    else
      sendFwdGetM(home.owner, p, invalidateFor(p));
      grantTo(p, MF, BM);
    end;
  end;
end;

-- every copy is called in, the requester's own included if it is on record
procedure homeFar(p : Proc);
begin
  home.answers := 0;
  if home.st = HE | home.st = HM | home.st = HO then
    sendFwd(home.owner, Recall);
    home.answers := 1;
  end;
  for q : Proc do
    if home.sh[q] then sendFwd(q, InvHome); home.answers := home.answers + 1; end;
    home.sh[q] := false;
  end;
  undefine home.owner;
  home.far := p;
  home.st := HA;
end;

procedure operate(p : Proc; v : Val);             -- the far operation, on current memory
begin
  assert home.mem = latest "a far operation on stale memory";
  home.mem := v; latest := v;
  sendResult(p);
  undefine home.far; undefine home.answers;
  home.st := HI;
end;

procedure putByOwner(p : Proc);
begin
  switch home.st
  case HE, HM:
    assert req[p].t != PutS "PutS from the owner of a line granted in E or M";
    assert req[p].t = PutM | home.st = HE | PROTOCOL = MOESI "PutE of a line granted in M";
    if req[p].t = PutM & !(BUG = 3 & home.st = HE) then         -- 3: a silent upgrade is dropped
      home.mem := req[p].d;
    end;
    home.st := HI;
  case HO:
    assert req[p].t != PutS "PutS from the owner of an owned line";
    if req[p].t = PutM then home.mem := req[p].d; end;
    home.st := HS;
  case HF:
    assert req[p].t = PutS "other than PutS from the forwarder";
    home.sh[p] := false;
    home.st := sharedOrIdle();
  else error "Put from the owner of a line without one"; end;
  undefine home.owner;
end;

procedure putByOther(p : Proc);
begin
  if BUG = 2 & req[p].t = PutM then home.mem := req[p].d; end;  -- 2: data of a past owner taken
  switch home.st
  case HS, SD, HF, HO, BS, BSD, BO:
    if BUG = 10 & req[p].t = PutS & (home.st = SD | home.st = BSD) then return; end;  -- 10: ignored
    home.sh[p] := false;
    if sharers() = 0 & home.st = HS then home.st := HI; end;
    if sharers() = 0 & home.st = HO then home.st := HM; end;
  else -- nothing of it is on record
  end;
end;

ruleset p : Proc do
  rule "home: GetS" req[p].t = GetS & homeAtRest() ==> begin homeGetS(p); takeReq(p); end;
  rule "home: GetM" req[p].t = GetM & homeAtRest() ==> begin homeGetM(p); takeReq(p); end;
  rule "home: Far"  req[p].t = Far & homeAtRest() & home.st != HI ==>
  begin homeFar(p); takeReq(p); end;

  rule "home: Put"
    (req[p].t = PutS | req[p].t = PutE | req[p].t = PutM) & (homeAtRest() | !owns(p))
  ==>
  begin
    if owns(p) then putByOwner(p); else putByOther(p); end;
    if BUG != 19 | req[p].t != PutM then sendFwd(p, PutAck); end;  -- 19: no PutAck
    takeReq(p);
  end;
end;

ruleset p : Proc; v : Val do
  rule "home: Far in HI" req[p].t = Far & home.st = HI ==> begin operate(p, v); takeReq(p); end;
end;

-- the home: responses ---------------------------------------------------------------------------

function lastAnswer() : boolean;
begin return home.st = HA & home.answers = 1; end;

procedure takeWb();
begin
  home.mem := wb.d;
  undefine wb;
  wb.v := false;
end;

rule "home: WriteBack" wb.v & !lastAnswer() ==>
begin
  takeWb();
  switch home.st
  case SD:  home.st := PROTOCOL = MESIF ? HF : sharedOrIdle();
  case BSD: home.st := BS;
  case HA:  home.answers := home.answers - 1;
  else if BUG != 13 then error "WriteBack in a state that cannot take it"; end; end;
end;

rule "home: Inv-Ack" iaHome > 0 & !lastAnswer() ==>
begin
  assert home.st = HA "Inv-Ack to a home that does not wait for it";
  iaHome := iaHome - 1;
  home.answers := home.answers - 1;
end;

ruleset v : Val do
  rule "home: last answer, a WriteBack" wb.v & lastAnswer() ==>
  begin takeWb(); operate(home.far, v); end;

  rule "home: last answer, an Inv-Ack" iaHome > 0 & lastAnswer() ==>
  begin iaHome := iaHome - 1; operate(home.far, v); end;
end;

rule "home: Passed" passed ==>
begin
  assert home.st = MF "Passed outside MF";
  passed := false;
  home.st := HM;
end;

rule "home: Missed" missed.v ==>
begin
  assert home.st = BS "Missed outside BS";
  sendData(missed.r, Forward, 0, home.mem);
  undefine missed;
  missed.v := false;
end;

rule "home: Unblock" unblock ==>
begin
  unblock := false;
  switch home.st
  case BE:  home.st := HE;
  case BM:  home.st := HM;
  case BS:  home.st := PROTOCOL = MESIF ? HF : sharedOrIdle();
  case BSD: home.st := SD;
  case BO:  home.st := sharers() > 0 ? HO : HM;
  else error "Unblock at a home that is not blocked"; end;
end;

-- start -----------------------------------------------------------------------------------------

startstate
begin
  for p : Proc do
    undefine c[p];    c[p].st := I; c[p].ack := 0;
    undefine req[p];  req[p].t := NoReq;
    undefine fq[p];   fq[p].n := 0;
    undefine dat[p];  dat[p].v := false;
    ia[p] := 0;
  end;
  undefine wb;        wb.v := false;
  undefine missed;    missed.v := false;
  passed := false;    unblock := false;    iaHome := 0;
  undefine home;      home.st := HI;       home.mem := 0;
  for p : Proc do home.sh[p] := false; end;
  latest := 0;
end;

-- properties ------------------------------------------------------------------------------------

invariant "single writer or many readers"
  forall p : Proc do forall q : Proc do
    p = q | !(writable(c[p].st) & readable(c[q].st)) end end;

invariant "every readable copy holds the last value stored"
  forall p : Proc do !readable(c[p].st) | c[p].d = latest end;

invariant "memory is current where no cache owns the line"
  !(home.st = HI | home.st = HS | home.st = HF) | home.mem = latest;

invariant "counters are at rest with the cache"
  forall p : Proc do !atRest(c[p].st) | (c[p].ack = 0 & ia[p] = 0) end;

invariant "at most one forwarder"
  forall p : Proc do forall q : Proc do p = q | !(c[p].st = F & c[q].st = F) end end;

function quiet() : boolean;
begin
  return !wb.v & !passed & !unblock & !missed.v & iaHome = 0 &
    forall p : Proc do
      req[p].t = NoReq & fq[p].n = 0 & !dat[p].v & ia[p] = 0 & atRest(c[p].st) end;
end;

-- the sharers on record cover the copies in S and F, and are no more if they are exact
function sharersOnRecord() : boolean;
begin
  return sharers() > 0 &
    forall p : Proc do
      (c[p].st = S | c[p].st = F) ? home.sh[p] : SILENT = 1 | !home.sh[p] end;
end;

function onlyCopy(p : Proc) : boolean;
begin return forall q : Proc do q = p | c[q].st = I end; end;

function recordHolds() : boolean;
begin
  switch home.st
  case HI: return forall p : Proc do c[p].st = I end;
  case HS: return sharersOnRecord() & forall p : Proc do c[p].st = I | c[p].st = S end;
  case HF: return sharersOnRecord() & home.sh[home.owner]
             & (SILENT = 1 | c[home.owner].st = F)
             & forall p : Proc do
                 c[p].st = I | c[p].st = S | (c[p].st = F & p = home.owner) end;
  case HE: return writable(c[home.owner].st) & onlyCopy(home.owner);
  case HM: return (c[home.owner].st = M | (PROTOCOL = MOESI & c[home.owner].st = O))
             & onlyCopy(home.owner);
  case HO: return c[home.owner].st = O & sharersOnRecord()
             & forall p : Proc do p = home.owner | c[p].st = I | c[p].st = S end;
  else return false; end;
end;

invariant "the home's record holds when all is quiet"
  !quiet() | recordHolds();

-- from every state each cache can still come to rest: no deadlock, no request lost
ruleset p : Proc do
  liveness "a cache can come to rest" atRest(c[p].st)
end;

liveness "the whole can fall silent" quiet() & homeAtRest();
