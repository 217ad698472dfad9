(** Stages in sequence: fused sums, sums that are exact before they are rounded, subnormals that are flushed between
    them, and trees of all these. *)
From Coq Require Import ZArith List Bool Lia Psatz Reals FMapPositive.
From TC Require Import Spec Theorems Design Rounded Bv Circuit Finish Fused Leaves.
Import ListNotations.
Open Scope Z_scope.

(** * Sums of values that are written in another way *)

Definition relv (R : num -> num -> Prop) (v w : val) : Prop :=
  match v, w with Num x, Num y => R x y | Inf s, Inf t => s = t | NaN, NaN => True | _, _ => False end.

Lemma sum_values_rel d e R vs ws : Forall2 (relv R) vs ws -> (forall ts us, Forall2 R ts us -> length ts = length vs -> sum_numbers d ts = sum_numbers e us) ->
  sum_values d vs = sum_values e ws.
Proof.
  intros F S. unfold sum_values, numbers. assert (E : forallb is_num vs = forallb is_num ws).
  { clear -F. induction F as [|v w vs ws H F IH]; simpl; auto. rewrite IH. destruct v, w; easy. }
  rewrite E. destruct (forallb is_num ws) eqn:Q.
  - apply S; [|apply map_length]. clear S E. induction F as [|v w vs ws H F IH]; simpl in *; constructor; apply andb_prop in Q; destruct Q as [Q1 Q2].
    + destruct v, w; simpl in *; auto; discriminate || contradiction.
    + now apply IH.
  - assert (Y : forall q : val -> bool, (forall x y, q (Num x) = q (Num y)) -> existsb q vs = existsb q ws).
    { intros q Hq. clear -F Hq. induction F as [|v w vs ws H F IH]; simpl; auto. rewrite IH. f_equal. destruct v, w; simpl in H; try contradiction; auto. now subst. }
    unfold special_sum. rewrite !Y by reflexivity. reflexivity.
Qed.

(** Sums in which only values count. *)
Definition regular (d : sum) : bool := negb (normalise d) || match fraction_bits d with None => true | _ => false end.

Lemma same_alike x y : same x y -> alike x y.
Proof. intros [A [_ B]]. now split. Qed.

Theorem regular_same d vs ws : regular d = true -> Forall2 same_val vs ws -> sum_values d vs = sum_values d ws.
Proof.
  unfold regular. intros H F. destruct (fraction_bits d) as [f|] eqn:Fb.
  - rewrite orb_false_r in H. apply negb_true_iff in H. now apply (same_values d f).
  - apply (sum_values_rel d d same); [exact F|]. intros ts us G _. apply exact_alike; auto. clear -G. induction G; constructor; auto. now apply same_alike.
Qed.

(** * Stages *)

Definition number_eqb (x y : number) : bool :=
  (sign x =? sign y)%positive && (significand x =? significand y)%positive && (code x =? code y)%positive && (low x =? low y) &&
  (bits_below x =? bits_below y) && (nan x =? nan y)%positive && (inf x =? inf y)%positive.

Fixpoint numbers_eqb (l r : list number) : bool :=
  match l, r with [], [] => true | x :: l, y :: r => number_eqb x y && numbers_eqb l r | _, _ => false end.

Lemma number_eq x y : number_eqb x y = true -> x = y.
Proof.
  unfold number_eqb. rewrite !andb_true_iff, !Pos.eqb_eq, !Z.eqb_eq. destruct x, y; cbn. intros [[[[[[A B] C] D] E] F] G]. now subst.
Qed.
Lemma numbers_eq l : forall r, numbers_eqb l r = true -> l = r.
Proof. induction l as [|x l IH]; destruct r as [|y r]; simpl; try easy. rewrite andb_true_iff. intros [A B]. f_equal; [now apply number_eq|now apply IH]. Qed.

Definition in_circuit (names : PositiveMap.t Z) (i : positive) : bool := PositiveMap.mem i names.

(** An operand of an exact sum: its number, the node that is 1 where it is zero, the largest code of a finite one. *)
Record operand := Operand { its : number; its_zero : positive; its_span : Z }.

(** A sum: of terms that are aligned and cut, or exact, of the numbers [of_leads] with the leading ones of their
    significands moved to the top. *)
Inductive summed := One (f : Z) (x : fused) | Two (f : Z) (of_leads : list operand) (x : fused).

Definition sum_operands (s : summed) : list number := match s with One _ x => numbers_of x | Two _ rs _ => map its rs end.
Definition sum_body (s : summed) : fused := match s with One _ x | Two _ _ x => x end.
Definition sum_result (s : summed) : number := outcome (closing (sum_body s)).
Definition odd_sum (d : sum) (f : Z) : sum :=
  {| fraction_bits := Some f; alignment := RO; zero_exponent := ZeroNone; carry_bits := None; normalise := false; out := out d |}.
Definition sum_design (d : sum) (s : summed) : sum := match s with One _ _ => d | Two f _ _ => odd_sum d f end.
Definition summed_bits (s : summed) : Z := match s with One f _ | Two f _ _ => f end.

Definition operand_known (r : operand) : list formula :=
  [AtMost (U (code (its r))) (Num_ (its_span r)); Iff (Is (its_zero r)) (Equal (U (significand (its r))) (Num_ 0))].

(** [g]: what is given of the operand. *)
Definition lead_claims_when (g : list formula) (rl : operand * number) : list claim :=
  let '(o, l) := rl in
  let r := its o in
  let k := Plus (Minus (exponent r) (exponent l)) (Num_ (bits_below l - bits_below r)) in
  let z := Equal (U (significand r)) (Num_ 0) in
  map (Claim g) (operand_known o) ++
  [Claim (g ++ operand_known o) (Iff (Equal (U (significand l)) (Num_ 0)) z);
   Claim (g ++ Negation z :: operand_known o) (Both (AtMost (Num_ 0) k) (AtMost k (Num_ (bits_below l + 1))));
   Claim (g ++ Negation z :: operand_known o) (Equal (U (significand l)) (Shift (U (significand r)) (Low k (Num_ (bits_below l + 1)))));
   Claim (g ++ Negation z :: operand_known o) (AtMost (Num_ (2 ^ bits_below l)) (U (significand l)))].
Definition lead_claims (rl : operand * number) : list claim := lead_claims_when [finite (its (fst rl))] rl.

(** What is known of a number that was moved. *)
Fixpoint known_of (l : list (operand * number)) (y : number) : list formula :=
  match l with [] => [] | (o, z) :: l => if number_eqb z y then operand_known o else known_of l y end.
Definition context (s : summed) : number -> list formula :=
  match s with One _ _ => fun _ => [] | Two _ rs x => known_of (combine rs (numbers_of x)) end.

Definition lead_ok (m : widths) (f : Z) (rl : operand * number) : bool :=
  let '(o, l) := rl in
  let r := its o in
  (sign r =? sign l)%positive && (nan r =? nan l)%positive && (inf r =? inf l)%positive && (0 <=? bits_below l) &&
  (width_in m (significand l) =? bits_below l + 1) && (bits_below l + 2 <=? f).

Definition summed_claims (m : widths) (d : sum) (s : summed) : list claim :=
  (match s with One _ _ => [] | Two _ rs x => flat_map lead_claims (combine rs (numbers_of x)) end) ++
  fused_claims m (context s) (sum_design d s) (summed_bits s) (sum_body s).

Definition shape_ok (m : widths) (d : sum) (s : summed) : bool :=
  match s with
  | One _ _ => true
  | Two f rs x =>
      match fraction_bits d with None => true | _ => false end && (length rs =? length (numbers_of x))%nat && (1 <=? length rs)%nat && (length rs <=? 2)%nat &&
      forallb (lead_ok m f) (combine rs (numbers_of x)) && (0 <=? p (out d)) && (p (out d) + 2 + deciding_bits (rho (out d)) <=? f)
  end.

Definition summed_ok (m : widths) (d : sum) (s : summed) : bool :=
  fused_ok m (sum_design d s) (summed_bits s) (sum_body s) && forallb (in_circuit m) (fused_nodes (sum_body s)) && regular d && shape_ok m d s.

Definition keeps_all (r : flush_rule) : bool := match r with Kept => true | _ => false end.

(** What is known of the cut points of a sum that is a number. *)
Definition summed_usual (d : sum) (s : summed) : list formula :=
  usual (out d) (closing (sum_body s)) (Fused.fused_sum (sum_design d s) (summed_bits s) (sum_body s)).

(** A number that is what is shown, of nodes that are cut points. *)
Definition shown_number (r : number) : shown :=
  Shown (Is (nan r)) (Is (inf r)) (Is (sign r)) (U (significand r)) (exponent r) (bits_below r).
Definition known_number (known : list formula) (r : number) : list formula :=
  match known with [] => [] | _ => [Either (Is (nan r)) (Either (Is (inf r)) (all_of known))] end.
Definition flush_claims (known : list formula) (rule : flush_rule) (r to : number) : list claim :=
  if keeps_all rule && number_eqb r to then [] else
  let s := shown_flush rule (shown_number r) in number_claims s (known_number known r) [Negation (s_nan s); Negation (s_inf s)] (s_sig s) to.

Definition flush_ok (m : widths) (rule : flush_rule) (r to : number) : bool :=
  keeps_all rule && number_eqb r to || rule_ok rule && (0 <=? bits_below r) && in_circuit m (significand r) && (bits_below to =? bits_below r).

(** A number that is a known one. *)
Definition shown_known (x : num) : shown :=
  Shown Never Never (constant (neg x)) (Num_ (sig x)) (Num_ (exp x)) (frac x).
Definition known_claims (x : num) (r : number) : list claim := number_claims (shown_known x) [] [] (Num_ (sig x)) r.

Section Sound.
Variables (ct : circuit) (v : env).
Let m := widths_of ct.
Hypothesis SOL : solution ct v.
Hypothesis CIRC : circuit_ok ct = true.

Lemma in_map_fits i : in_circuit m i = true -> fits m v i.
Proof.
  unfold in_circuit. intros H. apply (solution_fits ct v CIRC SOL). clear -H.
  assert (G : forall c k, PositiveMap.mem i (fold_left (fun a n => PositiveMap.add (name n) (width n) a) c k) = true -> In i (map name c) \/ PositiveMap.mem i k = true).
  { induction c as [|n c IH]; intros k M; cbn [fold_left map] in *; auto. destruct (IH _ M) as [J|J]; [left; now right|].
    destruct (Pos.eq_dec i (name n)) as [->|N]; [left; now left|]. right. rewrite PositiveMap.mem_find in *. now rewrite PositiveMap.gso in J. }
  destruct (G ct (PositiveMap.empty Z) H) as [J|J]; auto. rewrite PositiveMap.mem_find, PositiveMap.gempty in J. easy.
Qed.

Lemma shown_number_is r : val_of m v (shown_number r) = val_in v r.
Proof. reflexivity. Qed.

Lemma flush_sound known rule r to : flush_ok m rule r to = true -> Forall (holds ct) (flush_claims known rule r to) ->
  ((v (nan r) =? 1) = false -> (v (inf r) =? 1) = false -> forallb (truth m v) known = true) -> flush rule (val_in v r) = val_in v to.
Proof.
  unfold flush_ok, flush_claims. intros OK CL KN. destruct (keeps_all rule && number_eqb r to) eqn:Q.
  - apply andb_prop in Q. destruct Q as [Q1 Q2]. apply number_eq in Q2. subst to. destruct rule; try easy. apply flush_kept_.
  - cbn [orb] in OK. rewrite !andb_true_iff in OK. destruct OK as [[[R B] I] E]. apply Z.leb_le in B. apply Z.eqb_eq in E.
    rewrite <- shown_number_is. rewrite (flush_shown m v rule (shown_number r)); auto. 2: { cbn [shown_number s_sig value]. apply (in_map_fits _ I). }
    assert (KT : forallb (truth m v) (known_number known r) = true).
    { unfold known_number. destruct known as [|a l]; auto. cbn [forallb]. rewrite andb_true_r. change (truth m v (Either (Is (nan r)) (Either (Is (inf r)) (all_of (a :: l))))) with ((v (nan r) =? 1) || ((v (inf r) =? 1) || truth m v (all_of (a :: l)))).
      rewrite truth_all. destruct (v (nan r) =? 1); auto. destruct (v (inf r) =? 1); auto. }
    apply (number_sound ct _ _ _ _ _ v CL KT SOL). { rewrite E. now destruct rule. }
    intros N J. split; [|reflexivity]. cbn [forallb]. change (truth (widths_of ct) v (Negation ?q)) with (negb (truth (widths_of ct) v q)). now rewrite N, J.
Qed.

Lemma known_sound x r : bits_below r = frac x -> Forall (holds ct) (known_claims x r) -> Num x = val_in v r.
Proof.
  intros B CL. rewrite <- (number_sound ct _ _ _ _ _ v CL eq_refl SOL B). 2: { intros _ _. split; reflexivity. }
  unfold val_of, shown_known; cbn [s_nan s_inf s_neg s_sig s_exp s_frac]. change (truth (widths_of ct) v Never) with false. cbv iota. rewrite truth_constant. cbn [value]. now destruct x.
Qed.

Lemma forallb1 {A} (q : A -> bool) a l : forallb q (a :: l) = q a && forallb q l. Proof. reflexivity. Qed.

Lemma lead_known g o l : Forall (holds ct) (lead_claims_when g (o, l)) -> forallb (truth m v) g = true -> forallb (truth m v) (operand_known o) = true.
Proof.
  intros CL F. apply forallb_forall. intros q I. rewrite Forall_forall in CL. apply (CL (Claim g q)); auto.
  unfold lead_claims_when. apply in_or_app. left. now apply in_map.
Qed.

Lemma lead_number f g r zr sp l : let o := Operand r zr sp in lead_ok m f (o, l) = true -> in_circuit m (significand l) = true -> Forall (holds ct) (lead_claims_when g (o, l)) ->
  forallb (truth m v) g = true -> alike (num_in v r) (num_in v l) /\ is_normal (num_in v l) /\ frac (num_in v l) + 2 <= f.
Proof.
  intros o. unfold lead_ok, o. cbn [its]. rewrite !andb_true_iff, !Pos.eqb_eq, !Z.leb_le, Z.eqb_eq. intros [[[[[S N] I] B] W] BF] IC CL FIN.
  pose proof (lead_known g (Operand r zr sp) l CL FIN) as KN.
  assert (Q : forall k q, nth_error (lead_claims_when g (Operand r zr sp, l)) k = Some q -> forallb (truth m v) (given q) = true -> truth m v (goal q) = true).
  { intros k q Nt G. rewrite Forall_forall in CL. exact (CL q (nth_error_In _ _ Nt) v SOL G). }
  pose proof (in_map_fits _ IC) as FL. unfold fits, inw in FL. rewrite W in FL.
  pose proof (Q 2%nat _ eq_refl) as Q0. cbn [given goal its] in Q0. rewrite forallb_app, FIN, KN in Q0. specialize (Q0 eq_refl). rewrite truth_iff in Q0. apply eqb_prop in Q0. cbn [truth value] in Q0.
  unfold num_in. rewrite <- S. set (sr := v (significand r)) in *. set (sl := v (significand l)) in *.
  destruct (Z.eqb_spec sr 0) as [Z0|Z0].
  - apply Z.eqb_eq in Q0. rewrite Z0, Q0. repeat split; cbn [neg sig exp frac]; auto. assert (S0 : forall b e fr, signed {| neg := b; sig := 0; exp := e; frac := fr |} = 0) by (now intros []). unfold V. rewrite !S0. lra.
  - assert (NZ : truth m v (Negation (Equal (U (significand r)) (Num_ 0))) = true) by (cbn [truth value]; fold sr; now destruct (Z.eqb_spec sr 0)).
    pose proof (Q 3%nat _ eq_refl) as Q1. cbn [given goal its] in Q1. rewrite forallb_app, forallb1, FIN, NZ, KN in Q1. specialize (Q1 eq_refl).
    pose proof (Q 4%nat _ eq_refl) as Q2. cbn [given goal its] in Q2. rewrite forallb_app, forallb1, FIN, NZ, KN in Q2. specialize (Q2 eq_refl).
    pose proof (Q 5%nat _ eq_refl) as Q3. cbn [given goal its] in Q3. rewrite forallb_app, forallb1, FIN, NZ, KN in Q3. specialize (Q3 eq_refl).
    cbn [truth value exponent] in Q1, Q2, Q3. apply andb_prop in Q1. destruct Q1 as [K1 K2]. apply Z.leb_le in K1, K2, Q3. apply Z.eqb_eq in Q2. fold sr sl in Q2, Q3.
    set (k := v (code r) + low r - (v (code l) + low l) + (bits_below l - bits_below r)) in *. rewrite Z.min_l in Q2 by lia.
    split; [split; cbn [neg]; auto|split; [split; cbn [sig frac]; [auto|right; fold sl; unfold sl; lia]|cbn [frac]; lia]].
    unfold V, signed, lsb; cbn [neg sig exp frac].
    assert (E : (IZR sr * bp (v (code r) + low r - bits_below r) = IZR sl * bp (v (code l) + low l - bits_below l))%R).
    { rewrite Q2, mult_IZR, <- bp_Z by lia. rewrite Rmult_assoc, <- Flocq.Core.Raux.bpow_plus. do 2 f_equal. unfold k. lia. }
    destruct (v (sign r) =? 1); rewrite ?opp_IZR, ?Ropp_mult_distr_l_reverse; [f_equal|]; exact E.
Qed.

Lemma lead_alike f r zr sp l : let o := Operand r zr sp in lead_ok m f (o, l) = true -> in_circuit m (significand l) = true -> Forall (holds ct) (lead_claims (o, l)) ->
  relv (fun x y => alike x y /\ is_normal y /\ frac y + 2 <= f) (val_in v r) (val_in v l).
Proof.
  intros o OK IC CL. pose proof OK as OK'. unfold lead_ok, o in OK'. cbn [its] in OK'. rewrite !andb_true_iff, !Pos.eqb_eq in OK'. destruct OK' as [[[[[S N] I] _] _] _].
  unfold val_in. rewrite <- N, <- I, <- S. destruct (v (nan r) =? 1) eqn:QN; [reflexivity|]. destruct (v (inf r) =? 1) eqn:QI; [reflexivity|].
  apply (lead_number f [finite r] r zr sp l OK IC CL). cbn [forallb finite truth]. now rewrite QN, QI.
Qed.

Lemma context_true d s : shape_ok m d s = true -> Forall (holds ct) (match s with One _ _ => [] | Two _ rs x => flat_map lead_claims (combine rs (numbers_of x)) end) ->
  forall a, In a (addends (sum_body s)) -> truth m v (finite (of a)) = true -> forallb (truth m v) (context s (of a)) = true.
Proof.
  destruct s as [f x|f rs x]; [reflexivity|]. cbn [shape_ok context sum_body]. rewrite !andb_true_iff. intros [[[[[[_ _] _] _] LO] _] _] CL a A F. clear A.
  induction (combine rs (numbers_of x)) as [|[o l] r IH]; [reflexivity|]. cbn [flat_map forallb known_of] in *. rewrite Forall_app in CL. destruct CL as [C1 C2]. apply andb_prop in LO. destruct LO as [L1 L2].
  destruct (number_eqb l (of a)) eqn:Q; [|now apply IH]. apply number_eq in Q. apply (lead_known [finite (its o)] o l C1). cbn [forallb]. rewrite andb_true_r.
  unfold lead_ok in L1. rewrite !andb_true_iff, !Pos.eqb_eq in L1. destruct L1 as [[[[[_ N] I] _] _] _]. cbn [finite truth] in *. rewrite <- Q in F. now rewrite N, I.
Qed.

(** An exact sum of one number. *)
Lemma exact_one d f x : fraction_bits d = None -> frac x + 2 <= f -> sum_numbers d [x] = sum_numbers (odd_sum d f) [x].
Proof.
  intros DN B. apply agreement; [reflexivity| | | |reflexivity].
  - unfold lossless, unit_of. rewrite DN. apply Forall_forall. intros t I _. now apply least_lsb_le.
  - constructor; [|constructor]. intros Z0. unfold unit_of, largest, odd_sum; cbn [fraction_bits map fold_right]. unfold term_exponent; cbn [zero_exponent normalise]. rewrite Z0. cbn [omax]. unfold lsb. lia.
  - unfold exact_total, total. rewrite DN. now destruct (carry_bits d).
Qed.

Theorem summed_sound d s : summed_ok m d s = true -> Forall (holds ct) (summed_claims m d s) ->
  same_val (sum_values d (map (val_in v) (sum_operands s))) (val_in v (sum_result s)).
Proof.
  unfold summed_ok, summed_claims. rewrite !andb_true_iff. intros [[[OK NI] RG] S] CL. rewrite Forall_app in CL. destruct CL as [CL1 CL2].
  assert (NO : forall i, In i (fused_nodes (sum_body s)) -> fits m v i) by (intros i I; apply in_map_fits; rewrite forallb_forall in NI; now apply NI).
  pose proof (fused_sound ct (context s) (sum_design d s) (summed_bits s) (sum_body s) v OK CL2 SOL NO (context_true d s S CL1)) as FS.
  destruct s as [f x|f rs x]; [exact FS|]. cbn [sum_design summed_bits sum_body sum_operands sum_result shape_ok] in *.
  rewrite !andb_true_iff in S. destruct S as [[[[[[DN LR] L1] L2] LO] P] PF]. apply Nat.eqb_eq in LR. apply Z.leb_le in P, PF.
  destruct (fraction_bits d) eqn:Fb; [easy|].
  assert (IN : forall l, In l (numbers_of x) -> in_circuit m (significand l) = true).
  { intros l I. rewrite forallb_forall in NI. apply NI. unfold numbers_of in I. apply in_map_iff in I. destruct I as [a [<- A]]. unfold fused_nodes. apply in_or_app. left. do 2 right. apply in_flat_map. exists a. split; auto. now left. }
  destruct rs as [|[r1 z1 s1] [|[r2 z2 s2] [|]]]; try easy; destruct (numbers_of x) as [|l1 [|l2 [|]]] eqn:NX; try easy; cbn [combine flat_map forallb map its] in *; rewrite !andb_true_iff in LO; rewrite app_nil_r in CL1.
  { destruct LO as [O1 _]. pose proof (lead_alike f _ _ _ l1 O1 (IN l1 (or_introl eq_refl)) CL1) as A1.
    eapply same_val_trans; [|exact FS]. replace (sum_values d [val_in v r1]) with (sum_values (odd_sum d f) [val_in v l1]); [apply same_refl|].
    symmetry. apply (sum_values_rel d (odd_sum d f) (fun x y => alike x y /\ is_normal y /\ frac y + 2 <= f)); [constructor; [exact A1|constructor]|].
    intros ts us F L. destruct ts as [|t1 [|]]; try easy. inversion F as [|? ? ? ? [B1 [N1 F1]] F']; subst. inversion F'; subst.
    rewrite (exact_alike d [t1] [y]) by (auto; repeat constructor; apply B1). now apply exact_one. }
  destruct LO as [O1 [O2 _]]. rewrite Forall_app in CL1. destruct CL1 as [C1 C2].
  pose proof (lead_alike f _ _ _ l1 O1 (IN l1 (or_introl eq_refl)) C1) as A1. pose proof (lead_alike f _ _ _ l2 O2 (IN l2 (or_intror (or_introl eq_refl))) C2) as A2.
  eapply same_val_trans; [|exact FS]. replace (sum_values d [val_in v r1; val_in v r2]) with (sum_values (odd_sum d f) [val_in v l1; val_in v l2]); [apply same_refl|].
  symmetry. apply (sum_values_rel d (odd_sum d f) (fun x y => alike x y /\ is_normal y /\ frac y + 2 <= f)). { cbn [map]. repeat constructor; assumption. }
  intros ts us F L. destruct ts as [|t1 [|t2 [|]]]; try easy. inversion F as [|? ? ? ? [B1 [N1 F1]] F']; subst. inversion F' as [|? ? ? ? [B2 [N2 F2]] F'']; subst. inversion F''; subst.
  rewrite (exact_alike d [t1; t2] [y; y0]) by (auto; repeat constructor; try apply B1; try apply B2).
  now apply (exact_two d (odd_sum d f) f).
Qed.

Lemma summed_usual_true d s : summed_ok m d s = true -> Forall (holds ct) (summed_claims m d s) ->
  (v (nan (sum_result s)) =? 1) = false -> (v (inf (sum_result s)) =? 1) = false -> forallb (truth m v) (summed_usual d s) = true.
Proof.
  unfold summed_ok, summed_claims. rewrite !andb_true_iff. intros [[[OK NI] RG] S] CL N I. rewrite Forall_app in CL. destruct CL as [CL1 CL2].
  assert (NO : forall i, In i (fused_nodes (sum_body s)) -> fits m v i) by (intros i J; apply in_map_fits; rewrite forallb_forall in NI; now apply NI).
  pose proof (usual_true ct (context s) (sum_design d s) (summed_bits s) (sum_body s) v OK CL2 SOL NO (context_true d s S CL1) N I) as H. unfold summed_usual. destruct s; exact H.
Qed.
End Sound.

(** * Trees *)

(** The plan of a tree: a number that is there, or a sum, with the number that it is after its subnormals are flushed. *)
Inductive tree_plan := At (r : number) | Sum (s : summed) (flushed : option number) (l : list tree_plan).

Definition plan_number (q : tree_plan) : number :=
  match q with At r => r | Sum s None _ => sum_result s | Sum _ (Some r) _ => r end.

Section Trees.
Variables (m : widths) (rule : flush_rule) (ps : list number) (c : number).

Definition flushed_number (s : summed) (fl : option number) : number := match fl with None => sum_result s | Some r => r end.

Fixpoint tree_ok (t : steps) (q : tree_plan) {struct t} : bool :=
  match t, q with
  | Product k, At r => (k <? length ps)%nat && number_eqb r (nth k ps c)
  | C, At r => number_eqb r c
  | Step (Stage d) l, Sum s fl qs =>
      summed_ok m d s && numbers_eqb (sum_operands s) (map plan_number qs) && flush_ok m rule (sum_result s) (flushed_number s fl) &&
      (fix go (l : list steps) (qs : list tree_plan) : bool :=
         match l, qs with
         | [], [] => true
         | PlusZero :: l, At r :: qs => (bits_below r =? p (out d)) && go l qs
         | t :: l, q :: qs => tree_ok t q && go l qs
         | _, _ => false
         end) l qs
  | _, _ => false
  end.

Fixpoint tree_claims (t : steps) (q : tree_plan) {struct t} : list claim :=
  match t, q with
  | Step (Stage d) l, Sum s fl qs =>
      summed_claims m d s ++ flush_claims (summed_usual d s) rule (sum_result s) (flushed_number s fl) ++
      (fix go (l : list steps) (qs : list tree_plan) : list claim :=
         match l, qs with
         | PlusZero :: l, At r :: qs => known_claims {| neg := false; sig := 0; exp := emin (out d); frac := p (out d) |} r ++ go l qs
         | t :: l, q :: qs => tree_claims t q ++ go l qs
         | _, _ => []
         end) l qs
  | _, _ => []
  end.
End Trees.

Section TreeInd.
Variable Q : steps -> Prop.
Hypothesis QP : forall k, Q (Product k).
Hypothesis QC : Q C.
Hypothesis QZ : Q PlusZero.
Hypothesis QS : forall s l, Forall Q l -> Q (Step s l).
Fixpoint steps_induction (t : steps) : Q t :=
  match t with
  | Product k => QP k | C => QC | PlusZero => QZ
  | Step s l => QS s l ((fix go l : Forall Q l := match l with [] => Forall_nil Q | x :: r => Forall_cons x (steps_induction x) (go r) end) l)
  end.
End TreeInd.

Section TreeSound.
Variables (ct : circuit) (v : env).
Let m := widths_of ct.
Hypothesis SOL : solution ct v.
Hypothesis CIRC : circuit_ok ct = true.
Variables (rule : flush_rule) (ps : list number) (c : number) (pvs : list val) (cv : val).
Hypothesis PS : Forall2 same_val pvs (map (val_in v) ps).
Hypothesis CV : same_val cv (val_in v c).

(** The value of a tree as a term of a sum. *)
Definition term_value (s : stage) (t : steps) : val :=
  let w := eval_steps rule pvs cv t in match t with Step _ _ => flush rule w | PlusZero => zero_of (stage_rounding s) | _ => w end.

Lemma same_subnormal x y : 0 <= sig x -> 0 <= sig y -> same x y -> is_subnormal x = is_subnormal y.
Proof.
  intros PX PY H. pose proof (same_zero _ _ H) as Z0. destruct H as [_ [E H]]. unfold is_subnormal. rewrite Z0. destruct (is_zero y) eqn:ZY; [reflexivity|]. cbn [negb andb].
  unfold is_zero in Z0, ZY. apply Z.eqb_neq in ZY, Z0.
  assert (SX : signed x <> 0) by (unfold signed; destruct (neg x); lia). assert (SY : signed y <> 0) by (unfold signed; destruct (neg y); lia).
  pose proof (log2_mag (signed x) (lsb x) SX) as MX. pose proof (log2_mag (signed y) (lsb y) SY) as MY. unfold V in H. rewrite H in MX. rewrite MX in MY.
  assert (G : forall z, 0 <= sig z -> Z.log2 (Z.abs (signed z)) = Z.log2 (sig z)) by (intros z Hz; unfold signed; destruct (neg z); rewrite ?Z.abs_opp, Z.abs_eq by lia; reflexivity).
  rewrite !G in MY by auto. unfold lsb in MY. destruct (Z.ltb_spec (Z.log2 (sig x)) (frac x)), (Z.ltb_spec (Z.log2 (sig y)) (frac y)); auto; lia.
Qed.

Lemma convert_nonneg co s n u x : 0 <= p co -> convert co s n u = Num x -> 0 <= sig x.
Proof.
  intros P. unfold convert. destruct (_ || _); [intros H; inversion H; cbn; lia|]. destruct (_ <? _); [|intros H; inversion H; cbn; lia].
  destruct (is_infinite co n); [easy|]. intros H; inversion H; cbn. pose proof (pow2_pos (p co + 1) ltac:(lia)). lia.
Qed.

Lemma sum_nonneg d vs x : 0 <= p (out d) -> sum_values d vs = Num x -> 0 <= sig x.
Proof.
  intros P. unfold sum_values. destruct (numbers vs); [unfold sum_numbers; now apply convert_nonneg|]. unfold special_sum. destruct (existsb _ _); [easy|]. destruct (existsb _ _), (existsb _ _); easy.
Qed.

Lemma flush_same_val d vs r to : 0 <= p (out d) -> flush_ok m rule r to = true -> same_val (sum_values d vs) (val_in v r) ->
  same_val (flush rule (sum_values d vs)) (flush rule (val_in v r)).
Proof.
  intros P OK S. assert (K : rule = Kept \/ in_circuit m (significand r) = true).
  { unfold flush_ok in OK. destruct rule; auto; right; cbn [keeps_all andb orb] in OK; rewrite !andb_true_iff in OK; tauto. }
  destruct K as [-> |K]; [now rewrite !flush_kept_|].
  destruct (sum_values d vs) as [x|s|] eqn:E; destruct (val_in v r) as [y|t|] eqn:E2; try (now destruct S).
  assert (Y : 0 <= sig y). { unfold val_in in E2. destruct (_ =? 1); [easy|]. destruct (_ =? 1); [easy|]. inversion E2. cbn. apply (in_map_fits ct v SOL CIRC _ K). }
  assert (X : 0 <= sig x) by (eapply sum_nonneg; eauto). cbn [same_val] in S. pose proof (same_subnormal x y X Y S) as Q. cbn [flush]. rewrite Q.
  destruct (negb (is_subnormal y)) eqn:W; [exact S|]. destruct S as [N [Ex Vv]]. destruct rule; try exact (conj N (conj Ex Vv)).
  1, 2: cbn [same_val]; repeat split; cbn [neg exp]; auto; unfold V, signed; cbn [neg sig]; try (destruct (neg x), (neg y)); change (- 0) with 0; now rewrite !Rmult_0_l.
  unfold flush_ok in OK. cbn [keeps_all andb orb rule_ok] in OK. easy.
Qed.

Section Goer.
Variables (d : sum).
Definition go_ok := (fix go (l : list steps) (qs : list tree_plan) : bool :=
         match l, qs with
         | [], [] => true
         | PlusZero :: l, At r :: qs => (bits_below r =? p (out d)) && go l qs
         | t :: l, q :: qs => tree_ok m rule ps c t q && go l qs
         | _, _ => false
         end).
Definition go_claims := (fix go (l : list steps) (qs : list tree_plan) : list claim :=
         match l, qs with
         | PlusZero :: l, At r :: qs => known_claims {| neg := false; sig := 0; exp := emin (out d); frac := p (out d) |} r ++ go l qs
         | t :: l, q :: qs => tree_claims m rule t q ++ go l qs
         | _, _ => []
         end).
End Goer.

Definition tree_right (t : steps) : Prop := forall q, tree_ok m rule ps c t q = true -> Forall (holds ct) (tree_claims m rule t q) ->
  same_val (match t with Step _ _ => flush rule (eval_steps rule pvs cv t) | _ => eval_steps rule pvs cv t end) (val_in v (plan_number q)) /\
  match t, q with Step _ _, Sum s _ _ => same_val (eval_steps rule pvs cv t) (val_in v (sum_result s)) | _, _ => True end.

Lemma terms_right d l : Forall tree_right l -> forall qs, go_ok d l qs = true -> Forall (holds ct) (go_claims d l qs) ->
  Forall2 same_val (map (term_value (Stage d)) l) (map (val_in v) (map plan_number qs)).
Proof.
  induction 1 as [|t l H F IH]; intros qs OK CL; destruct qs as [|q qs]; cbn [go_ok] in OK; try (now destruct t); try easy; [constructor|].
  assert (D : (t = PlusZero /\ exists r, q = At r /\ bits_below r = p (out d) /\ go_ok d l qs = true /\
     Forall (holds ct) (known_claims {| neg := false; sig := 0; exp := emin (out d); frac := p (out d) |} r) /\ Forall (holds ct) (go_claims d l qs)) \/
    (t <> PlusZero /\ tree_ok m rule ps c t q = true /\ go_ok d l qs = true /\ Forall (holds ct) (tree_claims m rule t q) /\ Forall (holds ct) (go_claims d l qs))).
  { destruct t as [k| | |s tl].
    1, 2, 4: right; split; [easy|]; apply andb_prop in OK; destruct OK as [O1 O2]; cbn [go_claims] in CL; rewrite Forall_app in CL; destruct CL as [C1 C2]; now repeat split.
    destruct q as [r|]; [|apply andb_prop in OK; now destruct OK]. left. split; auto. exists r. apply andb_prop in OK. destruct OK as [O1 O2]. apply Z.eqb_eq in O1. cbn [go_claims] in CL. rewrite Forall_app in CL. destruct CL. now repeat split. }
  cbn [map]. destruct D as [[-> [r [-> [B [O2 [C1 C2]]]]]]|[NZ [O1 [O2 [C1 C2]]]]].
  - constructor; [|now apply IH]. unfold term_value. cbn [eval_steps plan_number stage_rounding zero_of]. rewrite <- (known_sound ct v SOL {| neg := false; sig := 0; exp := emin (out d); frac := p (out d) |} r B C1). apply same_refl.
  - constructor; [|now apply IH]. destruct (H q O1 C1) as [G _]. unfold term_value. destruct t; auto. easy.
Qed.

Theorem tree_sound t : tree_right t.
Proof.
  induction t as [k| | |s l IH] using steps_induction; intros q OK CL; destruct q as [r|x fl qs]; cbn [tree_ok] in OK; try easy; try (now destruct s).
  - split; [|exact I]. apply andb_prop in OK. destruct OK as [K E]. apply number_eq in E. subst r. apply Nat.ltb_lt in K. cbn [eval_steps plan_number].
    rewrite <- (map_nth (val_in v)). clear -PS K. revert k K. remember (map (val_in v) ps) as ws eqn:W. rewrite <- (map_length (val_in v) ps), <- W. clear W.
    induction PS as [|a b la lb H F IHF]; intros k K; [simpl in K; lia|]. destruct k; [exact H|]. cbn [nth]. apply IHF; auto. simpl in K. lia.
  - split; [|exact I]. apply number_eq in OK. subst r. exact CV.
  - destruct s as [d|]; [|easy]. change (summed_ok m d x && numbers_eqb (sum_operands x) (map plan_number qs) && flush_ok m rule (sum_result x) (flushed_number x fl) && go_ok d l qs = true) in OK.
    change (Forall (holds ct) (summed_claims m d x ++ flush_claims (summed_usual d x) rule (sum_result x) (flushed_number x fl) ++ go_claims d l qs)) in CL.
    rewrite !andb_true_iff in OK. destruct OK as [[[O1 O2] O3] O4]. rewrite !Forall_app in CL. destruct CL as [C1 [C2 C3]]. apply numbers_eq in O2.
    pose proof (terms_right d l IH qs O4 C3) as TR.
    assert (RG : regular d = true) by (unfold summed_ok in O1; rewrite !andb_true_iff in O1; tauto).
    assert (E : eval_steps rule pvs cv (Step (Stage d) l) = sum_values d (map (val_in v) (sum_operands x))).
    { rewrite O2, <- (regular_same d _ _ RG TR). reflexivity. }
    pose proof (summed_sound ct v SOL CIRC d x O1 C1) as S. rewrite <- E in S.
    split; [|exact S]. replace (plan_number (Sum x fl qs)) with (flushed_number x fl) by (now destruct fl).
    rewrite <- (flush_sound ct v SOL CIRC _ rule _ _ O3 C2 (summed_usual_true ct v SOL CIRC d x O1 C1)). rewrite E in *. assert (P : 0 <= p (out d)). { unfold summed_ok, fused_ok in O1. rewrite !andb_true_iff in O1. assert (EO : ending_ok m (out (sum_design d x)) (closing (sum_body x)) = true) by tauto. unfold ending_ok in EO. rewrite !andb_true_iff, !Z.leb_le in EO. destruct x; cbn [sum_design odd_sum out] in EO; tauto. } now apply (flush_same_val d _ _ (flushed_number x fl)).
Qed.
End TreeSound.
