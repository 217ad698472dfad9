(** From the cut points of a circuit to the words of a design of [Wide.v]: one block of exact products, of which sums of terms cut to
    nearest stay as they are, and whose last sum is rounded.  No word is an Inf or a NaN. *)
From Coq Require Import ZArith List Bool Lia Psatz FMapPositive.
From TC Require Import Unit Spec Theorems Design Designs Wide Rounded Bv Circuit Finish Fused Leaves Stage.
Import ListNotations.
Open Scope Z_scope.

(** * To nearest *)

(** [k] units of [d] are the nearest to [z], from below where two are. *)
Definition near (k z d : Z) : Prop := 2 * (k * d) <= 2 * z + d < 2 * ((k + 1) * d).

Lemma near_clamped k z s w dn : 0 <= s -> 0 <= w -> 0 <= dn -> 2 * Z.abs z < 2 ^ w ->
  near k z (2 ^ Z.min s w * 2 ^ dn) -> near k z (2 ^ s * 2 ^ dn).
Proof.
  intros S W D B H. destruct (Z.le_gt_cases s w) as [L|L]; [now rewrite Z.min_l in H by lia|]. rewrite Z.min_r in H by lia.
  unfold near in *. pose proof (pow2_pos dn D) as PD. assert (P : 2 ^ w <= 2 ^ s) by (apply Z.pow_le_mono_r; lia).
  set (d1 := 2 ^ w * 2 ^ dn) in *. set (d2 := 2 ^ s * 2 ^ dn). assert (B1 : 2 ^ w <= d1) by (unfold d1; nia). assert (B2 : d1 <= d2) by (unfold d1, d2; nia).
  assert (K : k = 0) by nia. subst k. lia.
Qed.

Lemma near_up z k s up dn : 0 <= s -> 0 <= up -> 0 <= dn -> near k (z * 2 ^ up) (2 ^ s * 2 ^ dn) -> term_div TiesUp z (s + dn - up) = k.
Proof.
  intros S U D H. unfold near in H. rewrite <- Z.pow_add_r in H by lia. set (j := s + dn - up). cbn [term_div].
  pose proof (pow2_pos up U). pose proof (pow2_pos (s + dn) ltac:(lia)).
  destruct (Z.ltb_spec 0 j) as [L|L].
  - replace (round_div RD (z + 2 ^ (j - 1)) j) with (round_div RD (z + 2 ^ (j - 1)) (j + 0 - 0)) by (f_equal; lia).
    apply floor_is; try lia. rewrite Z.pow_0_r, !Z.mul_1_r.
    assert (Q : 2 ^ (s + dn) = 2 ^ j * 2 ^ up) by (rewrite <- Z.pow_add_r by lia; f_equal; unfold j; lia).
    assert (Hf : 2 ^ j = 2 * 2 ^ (j - 1)) by (replace j with (1 + (j - 1)) at 1 by lia; rewrite Z.pow_add_r by lia; reflexivity).
    rewrite Q, Hf in H. rewrite Hf. pose proof (pow2_pos (j - 1) ltac:(lia)). set (h := 2 ^ (j - 1)) in *. set (u := 2 ^ up) in *. nia.
  - assert (Q : 2 ^ up = 2 ^ (- j) * 2 ^ (s + dn)) by (rewrite <- Z.pow_add_r by lia; f_equal; unfold j; lia).
    rewrite round_div_unfold. destruct (Z.leb_spec j 0); [|lia]. rewrite Q in H. set (x := 2 ^ (- j)) in *. set (y := 2 ^ (s + dn)) in *. nia.
Qed.

Lemma near_away g k s up dn b : 0 <= g -> 0 <= s -> 0 <= up -> 0 <= dn -> near k (g * 2 ^ up) (2 ^ s * 2 ^ dn) ->
  term_div (By RNA) (with_sign b g) (s + dn - up) = with_sign b k.
Proof.
  intros G S U D H. unfold near in H. rewrite <- Z.pow_add_r in H by lia. set (j := s + dn - up). cbn [term_div].
  pose proof (pow2_pos up U). pose proof (pow2_pos (s + dn) ltac:(lia)).
  destruct (Z.ltb_spec 0 j) as [L|L].
  - assert (Q : 2 ^ (s + dn) = 2 ^ j * 2 ^ up) by (rewrite <- Z.pow_add_r by lia; f_equal; unfold j; lia). rewrite Q in H.
    pose proof (pow2_pos j ltac:(lia)) as PJ. assert (H' : 2 * (k * 2 ^ j) <= 2 * g + 2 ^ j < 2 * ((k + 1) * 2 ^ j)) by (set (u := 2 ^ up) in *; set (x := 2 ^ j) in *; nia).
    assert (A : Z.abs (with_sign b g) = g) by (unfold with_sign; destruct b; lia).
    pose proof (Z.div_mod g (2 ^ j) ltac:(lia)) as DM. pose proof (Z.mod_pos_bound g (2 ^ j) PJ) as MB.
    rewrite (round_div_kept RNA _ (g / 2 ^ j) j); [|lia|apply Z.div_pos; lia|rewrite A; set (x := 2 ^ j) in *; nia].
    rewrite A. cbn [away_rule]. set (q := g / 2 ^ j) in *. set (x := 2 ^ j) in *.
    assert (E : q + Z.b2z (x <=? 2 * (g - q * x)) = k).
    { set (r := g mod x) in *. replace (g - q * x) with r by lia. rewrite DM in H'. set (e := k - q) in *. replace k with (q + e) in * by (unfold e; lia).
      assert (HE : 2 * (e * x) <= 2 * r + x < 2 * ((e + 1) * x)) by lia. clear - HE MB PJ.
      destruct (Z.leb_spec x (2 * r)); cbn [Z.b2z]; [assert (e = 1) by nia|assert (e = 0) by nia]; lia. }
    rewrite E. destruct (Z.eq_dec g 0) as [Z0|Z0].
    + assert (K0 : k = 0) by (clear - H' PJ Z0; rewrite Z0 in H'; nia). rewrite K0. unfold with_sign. now destruct b, (_ <? _).
    + unfold with_sign. destruct b; [destruct (Z.ltb_spec (- g) 0); lia|destruct (Z.ltb_spec g 0); lia].
  - assert (Q : 2 ^ up = 2 ^ (- j) * 2 ^ (s + dn)) by (rewrite <- Z.pow_add_r by lia; f_equal; unfold j; lia).
    rewrite round_div_unfold. destruct (Z.leb_spec j 0); [|lia]. rewrite Q in H. set (x := 2 ^ (- j)) in *. set (y := 2 ^ (s + dn)) in *.
    assert (g * x = k) by nia. unfold with_sign. destruct b; lia.
Qed.

Definition nearest (how : term_mode) : bool := match how with By RNA | TiesUp => true | _ => false end.

(** A magnitude [k], of what is near to the magnitude [z], or to the signed number. *)
Definition near_by (how : term_mode) (b : bool) (k z d : Z) : Prop :=
  match how with TiesUp => near (with_sign b k) (with_sign b z) d | _ => near k z d end.

Lemma near_is how b k g s up dn : nearest how = true -> 0 <= g -> 0 <= s -> 0 <= up -> 0 <= dn ->
  near_by how b k (g * 2 ^ up) (2 ^ s * 2 ^ dn) -> term_div how (with_sign b g) (s + dn - up) = with_sign b k.
Proof.
  intros N G S U D H. destruct how as [m|]; cbn [near_by] in H.
  - destruct m; try easy. now apply near_away.
  - apply near_up; auto. replace (with_sign b g * 2 ^ up) with (with_sign b (g * 2 ^ up)); auto. unfold with_sign. destruct b; lia.
Qed.

Lemma near_by_clamped how b k z s w dn : 0 <= s -> 0 <= w -> 0 <= dn -> 2 * Z.abs z < 2 ^ w ->
  near_by how b k z (2 ^ Z.min s w * 2 ^ dn) -> near_by how b k z (2 ^ s * 2 ^ dn).
Proof.
  intros S W D B H. destruct how; cbn [near_by] in *; apply (near_clamped _ _ s w dn); auto. unfold with_sign. destruct b; lia.
Qed.

Definition near_formula (how : term_mode) (b : formula) (k z by_ : Circuit.term) (dn : Z) : formula :=
  let sgn t := match how with TiesUp => If b (Minus (Num_ 0) t) t | _ => t end in
  let two t := Times (Num_ 2) t in
  let scaled t := Times (Shift t by_) (Num_ (2 ^ dn)) in
  let mid := Plus (two (sgn z)) (scaled (Num_ 1)) in
  Both (AtMost (two (scaled (sgn k))) mid) (Less mid (two (scaled (Plus (sgn k) (Num_ 1))))).

Lemma near_true m v how b k z y dn : truth m v (near_formula how b k z y dn) = true ->
  near_by how (truth m v b) (value m v k) (value m v z) (2 ^ value m v y * 2 ^ dn).
Proof.
  intros H. unfold near_formula in H. cbn [truth] in H. rewrite andb_true_iff, Z.leb_le, Z.ltb_lt in H.
  destruct how; cbn [near_by]; unfold near, with_sign; cbn [value] in H; rewrite <- !Z.mul_assoc, Z.mul_1_l in H; [exact H|]. destruct (truth m v b); rewrite ?Z.sub_0_l in H; exact H.
Qed.

(** * Plans *)

(** A number, the node that is 1 where it is a zero that takes no part with its own exponent, its largest code; whether it is c. *)
Record entry := Entry { its_number : Finish.number; gone : positive; its_span : Z; from_c : bool }.

(** How far below the largest exponent a term is, its magnitude after one cut and after all, and the largest value of that. *)
Record cutting := Cutting { distance : positive; once : positive; left_of : positive; most_left : Z }.

Record wide_plan := WidePlan {
  cuts : list cutting;
  e_top : positive; e_low : Z; e_span : Z;     (** the largest exponent *)
  adders : sum_tree; before_fault : positive; counted_node : positive
}.

Definition nobody : entry := Entry (Number 1 1 1 0 0 1 1) 1 0 false.
Definition no_cut : cutting := Cutting 1 1 1 0.

Section Claims.
Variables (m : widths) (s : wide_sum) (f : Z) (os : list entry) (q : wide_plan).

Definition span_of (o : entry) : formula := AtMost (U (code (its_number o))) (Num_ (its_span o)).
Definition spans : list formula := map span_of os.
Definition top_at : Circuit.term := Plus (U (e_top q)) (Num_ (e_low q)).
Definition enters (o : entry) : formula := match zeros_at s with ZeroNone => Negation (Is (gone o)) | _ => Always end.
Definition part (o : entry) : Circuit.term :=
  match zeros_at s with ZeroAt e => If (Is (gone o)) (Num_ e) (exponent (its_number o)) | _ => exponent (its_number o) end.

Definition top_claims : list claim :=
  Claim spans (Either (any_of (map (fun o => Both (enters o) (Equal (part o) top_at)) os)) (all_of (map (fun o => Negation (enters o)) os)))
  :: Claim spans (AtMost (U (e_top q)) (Num_ (e_span q)))
  :: map (fun o => Claim spans (Either (Negation (enters o)) (AtMost (part o) top_at))) os.

Definition how_of (o : entry) : term_mode := if from_c o then c_term_cut s else term_cut s.
Definition up_by (o : entry) : Z := Z.max 0 (f - bits_below (its_number o)).
Definition down_by (o : entry) : Z := Z.max 0 (bits_below (its_number o) - f).
Definition clamp (o : entry) : Z := width_in m (significand (its_number o)) + up_by o + 1.
Definition finest : Z := match second_bits s with Some g => g | None => f end.

Definition cut_claims (o : entry) (x : cutting) : list claim :=
  let n := its_number o in
  [Claim (Negation (Is (gone o)) :: AtMost (exponent n) top_at :: spans) (Equal (U (distance x)) (Minus top_at (exponent n)));
   Claim [] (near_formula (how_of o) (Is (sign n)) (U (once x)) (Times (U (significand n)) (Num_ (2 ^ up_by o)))
     (Low (U (distance x)) (Num_ (clamp o))) (down_by o));
   Claim [] (near_formula (how_of o) (Is (sign n)) (U (left_of x)) (U (once x)) (Num_ (f - finest)) 0);
   Claim [] (AtMost (U (left_of x)) (Num_ (most_left x)))].

Fixpoint adder_bound (t : sum_tree) : Z :=
  match t with Leaf _ i => most_left (nth i (cuts q) no_cut) | Partial _ l r => adder_bound l + adder_bound r end.
Definition within_adder (t : sum_tree) : formula := within (adder_bound t) (Sg (tree_node t)).
Fixpoint adder_claims (t : sum_tree) : list claim :=
  match t with
  | Leaf n i =>
      let x := U (left_of (nth i (cuts q) no_cut)) in
      [Claim [] (Equal (Sg n) (If (Is (sign (its_number (nth i os nobody)))) (Minus (Num_ 0) x) x))]
  | Partial n l r =>
      Claim [within_adder l; within_adder r] (Equal (Sg n) (Plus (Sg (tree_node l)) (Sg (tree_node r)))) :: adder_claims l ++ adder_claims r
  end.
Definition sum_bound : Z := Z.max (adder_bound (adders q)) (match minus_one s with Some j => 2 ^ j | None => 0 end).
Definition adding_claims : list claim :=
  Claim [within_adder (adders q)] (Equal (Sg (before_fault q)) (Sg (tree_node (adders q)))) ::
  Claim [within (adder_bound (adders q)) (Sg (before_fault q))] (Equal (Sg (counted_node q))
    (match minus_one s with
     | Some j => If (Equal (Sg (before_fault q)) (Num_ (-1))) (Num_ (- 2 ^ j)) (Sg (before_fault q))
     | None => Sg (before_fault q)
     end)) :: adder_claims (adders q).

Definition summed_claims : list claim :=
  top_claims ++ flat_map (fun x => cut_claims (fst x) (snd x)) (combine os (cuts q)) ++ adding_claims.

Definition summed_ok : bool :=
  match term_bits s with Some g => g =? f | None => false end && match c_term_bits s, room s, cut_sum s with None, None, None => true | _, _, _ => false end &&
  nearest (term_cut s) && nearest (c_term_cut s) && negb (leading s) && c_decides s && (0 <=? f) && (finest <=? f) && (0 <=? finest) &&
  match minus_one s with Some j => 0 <=? j | None => true end &&
  (length os =? length (cuts q))%nat && match os with [] => false | _ => true end &&
  forallb (in_circuit m) (flat_map (fun o => [significand (its_number o); code (its_number o)]) os) &&
  forallb (in_circuit m) (flat_map (fun x => [distance x; once x; left_of x]) (cuts q)) &&
  forallb (fun i => (i <? length os)%nat) (places (adders q)) && (length (places (adders q)) =? length os)%nat &&
  forallb (fun i => existsb (Nat.eqb i) (places (adders q))) (seq 0 (length os)).
End Claims.

Lemma fold_max l : match fold_right omax None l with
  | Some e => In (Some e) l /\ forall x, In (Some x) l -> x <= e
  | None => forall o, In o l -> o = None end.
Proof.
  induction l as [|o l IH]; cbn [fold_right]; [easy|]. destruct (fold_right omax None l) as [e|], o as [x|]; cbn [omax].
  - destruct IH as [I M]. split.
    + destruct (Z.max_spec x e) as [[_ ->]|[_ ->]]; [now right|now left].
    + intros y [Y|Y]; [inversion Y; lia|]. specialize (M y Y). lia.
  - destruct IH as [I M]. split; [now right|]. intros y [Y|Y]; [easy|auto].
  - split; [now left|]. intros y [Y|Y]; [inversion Y; lia|]. now specialize (IH _ Y).
  - intros o [<-|I]; auto.
Qed.

(** A term of the specification that an entry is. *)
Record stands (v : env) (t : Wide.term * bool) (o : entry) : Prop := {
  s_value : Wide.its (fst t) = Num (num_in v (its_number o));
  s_gone : (v (gone o) =? 1) = is_zero (num_in v (its_number o)) && negb (alive (fst t));
  s_span : v (code (its_number o)) <= its_span o;
  s_c : snd t = from_c o
}.

Lemma near_nothing how b k d : 0 < d -> near_by how b k 0 d -> k = 0.
Proof. intros D H. destruct how; cbn [near_by] in H; unfold near, with_sign in H; [nia|]. destruct b; nia. Qed.

Lemma term_div_0 how k : nearest how = true -> term_div how 0 k = 0.
Proof.
  intros N. replace k with (Z.max 0 k + 0 - Z.max 0 (- k)) by lia. change 0 with (with_sign false 0) at 1.
  rewrite (near_is how false 0); auto; try lia. unfold near_by, near, with_sign. pose proof (pow2_pos (Z.max 0 k) ltac:(lia)). destruct how; lia.
Qed.

Lemma forall2_right {A B} (P : A -> B -> Prop) l r : Forall2 P l r -> forall o, In o r -> exists x, In x l /\ P x o.
Proof. intros F. induction F as [|x y l r H F IH]; [easy|]. intros o [<-|I]; [exists x; split; auto; now left|]. destruct (IH o I) as [z [Z1 Z2]]. exists z. split; auto. now right. Qed.
Lemma forall2_left {A B} (P : A -> B -> Prop) l r : Forall2 P l r -> forall x, In x l -> exists o, In o r /\ P x o.
Proof. intros F. induction F as [|x y l r H F IH]; [easy|]. intros o [<-|I]; [exists y; split; auto; now left|]. destruct (IH o I) as [z [Z1 Z2]]. exists z. split; auto. now right. Qed.

Lemma map_pairs {A B C} (P : A -> B -> Prop) (g : A -> Z) (h : B * C -> Z) l : forall r cs, Forall2 P l r -> length r = length cs ->
  (forall x o y, P x o -> In (o, y) (combine r cs) -> g x = h (o, y)) -> map g l = map h (combine r cs).
Proof.
  induction l as [|x l IH]; intros r cs F L H; inversion F; subst; destruct cs as [|c cs]; try easy. cbn [combine map]. f_equal.
  - apply H; auto. now left.
  - apply IH; auto. intros a b z J I. apply H; auto. now right.
Qed.

Lemma forall2_map {A B C} (P : B -> C -> Prop) (g : A -> B) (h : A -> C) l : (forall x, In x l -> P (g x) (h x)) -> Forall2 P (map g l) (map h l).
Proof. induction l as [|x l IH]; intros H; cbn [map]; constructor; [apply H; now left|apply IH; intros z J; apply H; now right]. Qed.

Lemma zsum_none {A} (g : A -> Z) k : (forall p, In p k -> g p = 0) -> zsum (map g k) = 0.
Proof. intros H. induction k as [|p k IH]; auto. cbn [map zsum fold_right]. rewrite (H p) by now left. unfold zsum in IH. rewrite IH; auto. intros a I. apply H. now right. Qed.

Section Sound.
Variables (ct : circuit) (s : wide_sum) (f : Z) (os : list entry) (q : wide_plan) (v : env) (ts : list (Wide.term * bool)).
Let m := widths_of ct.
Let T := truth m v.
Let W := value m v.
Hypothesis CIRC : circuit_ok ct = true.
Hypothesis SOL : solution ct v.
Hypothesis OK : summed_ok m s f os q = true.
Hypothesis CL : Forall (holds ct) (summed_claims m s f os q).
Hypothesis ST : Forall2 (stands v) ts os.

Let l := map (fun x : Wide.term * bool => {| Wide.number := num_of (Wide.its (fst x)); counts_at_zero := alive (fst x); is_c := snd x |}) ts.
Let top := v (e_top q) + e_low q.

Definition is_entry (x : Wide.addend) (o : entry) : Prop :=
  Wide.number x = num_in v (its_number o) /\ (v (gone o) =? 1) = is_zero (num_in v (its_number o)) && negb (counts_at_zero x) /\
  v (code (its_number o)) <= its_span o /\ is_c x = from_c o.

Lemma entries_are : Forall2 is_entry l os.
Proof.
  unfold l. clear -ST. induction ST as [|t o tl ol [A B C D] F IH]; cbn [map]; constructor; auto.
  unfold is_entry. cbn [Wide.number counts_at_zero is_c]. rewrite A. auto.
Qed.

Lemma parts : term_bits s = Some f /\ c_term_bits s = None /\ room s = None /\ cut_sum s = None /\ nearest (term_cut s) = true /\ nearest (c_term_cut s) = true /\
  leading s = false /\ c_decides s = true /\ 0 <= f /\ 0 <= finest s f <= f /\ match minus_one s with Some j => 0 <= j | None => True end /\ length os = length (cuts q) /\ os <> [] /\
  (forall o, In o os -> fits m v (significand (its_number o)) /\ fits m v (code (its_number o))) /\
  (forall x, In x (cuts q) -> fits m v (distance x) /\ fits m v (once x) /\ fits m v (left_of x)) /\
  (forall i, In i (places (adders q)) -> (i < length os)%nat) /\ Permutation.Permutation (seq 0 (length os)) (places (adders q)).
Proof.
  unfold summed_ok in OK. rewrite !andb_true_iff in OK. destruct OK as [[[[[[[[[[[[[[[[A B] C1] C2] D] E] F1] F2] F3] G] H] I] J] K] L] M] N].
  destruct (term_bits s) as [g|]; [|easy]. apply Z.eqb_eq in A. subst g.
  destruct (c_term_bits s); [easy|]. destruct (room s); [easy|]. destruct (cut_sum s); [easy|].
  apply negb_true_iff in D. apply Z.leb_le in F1, F2, F3. apply Nat.eqb_eq in H, M. rewrite forallb_forall in J, K, L, N.
  assert (IN : forall i, in_circuit m i = true -> fits m v i) by (apply (in_map_fits ct v SOL CIRC)).
  assert (FO : forall o, In o os -> fits m v (significand (its_number o)) /\ fits m v (code (its_number o))).
  { intros o I0. split; apply IN, J, in_flat_map; exists o; (split; [auto|]); [now left|right; now left]. }
  assert (FC : forall x, In x (cuts q) -> fits m v (distance x) /\ fits m v (once x) /\ fits m v (left_of x)).
  { intros x I0. split; [|split]; apply IN, K, in_flat_map; exists x; (split; [auto|]); [now left|right; now left|right; right; now left]. }
  assert (PR : Permutation.Permutation (seq 0 (length os)) (places (adders q))).
  { apply Permutation.NoDup_Permutation_bis. apply seq_NoDup. rewrite seq_length, M. auto. intros i Hi. specialize (N i Hi). rewrite existsb_exists in N.
    destruct N as [j [Hj Q]]. apply Nat.eqb_eq in Q. now subst. }
  split; [auto|]. split; [auto|]. split; [auto|]. split; [auto|]. split; [auto|]. split; [auto|]. split; [auto|]. split; [auto|]. split; [lia|]. split; [lia|].
  split. { destruct (minus_one s); auto. now apply Z.leb_le. } split; [auto|]. split. { destruct os; easy. } split; [auto|]. split; [auto|].
  split; [|auto]. intros i I0. now apply Nat.ltb_lt, L.
Qed.

Lemma use q0 : In q0 (summed_claims m s f os q) -> forallb T (given q0) = true -> T (goal q0) = true.
Proof. intros I G. rewrite Forall_forall in CL. exact (CL q0 I v SOL G). Qed.

Lemma spans_true : forallb T (spans os) = true.
Proof.
  unfold spans. rewrite forallb_map. apply forallb_forall. intros o I. pose proof entries_are as EA.
  destruct (forall2_right _ _ _ EA o I) as [x [_ [_ [_ [S _]]]]]. unfold T, span_of. cbn [truth value]. now apply Z.leb_le.
Qed.

Lemma exponent_is x o : is_entry x o -> exponent_in s x = if T (enters s o) then Some (W (part s o)) else None.
Proof.
  intros [N [G [_ _]]]. destruct parts as [_ [_ [_ [_ [_ [_ [LD _]]]]]]]. unfold exponent_in, enters, part, T, W. rewrite LD, N.
  destruct (is_zero (num_in v (its_number o))) eqn:Z0; cbn [negb andb] in G |- *.
  - destruct (counts_at_zero x); cbn [negb] in G; destruct (zeros_at s); cbn [truth value negb]; rewrite ?G; reflexivity.
  - destruct (zeros_at s); cbn [truth value negb]; rewrite ?G; reflexivity.
Qed.

Lemma largest_is : largest_in s l = Some top \/ (largest_in s l = None /\ forall o, In o os -> T (enters s o) = false).
Proof.
  destruct parts as [_ [_ [_ [_ [_ [_ [_ [CD _]]]]]]]]. unfold largest_in. rewrite CD. cbn [orb].
  assert (F : filter (fun _ : Wide.addend => true) l = l) by (clear; induction l as [|x k IH]; cbn [filter]; congruence). rewrite F.
  replace (match l with [] => l | _ :: _ => l end) with l by now destruct l.
  set (es := map (exponent_in s) l). pose proof (fold_max es) as FM.
  assert (IM : forall o, In o os -> In (if T (enters s o) then Some (W (part s o)) else None) es).
  { intros o I. destruct (forall2_right _ _ _ entries_are o I) as [x [J P]]. rewrite <- (exponent_is x o P). now apply in_map. }
  assert (OM : forall e, In (Some e) es -> exists o, In o os /\ T (enters s o) = true /\ e = W (part s o)).
  { intros e I. unfold es in I. apply in_map_iff in I. destruct I as [x [EX J]]. destruct (forall2_left _ _ _ entries_are x J) as [o [O1 P]].
    rewrite (exponent_is x o P) in EX. exists o. destruct (T (enters s o)) eqn:EY; [|easy]. now inversion EX. }
  assert (C1 : T (Either (any_of (map (fun o => Both (enters s o) (Equal (part s o) (top_at q))) os)) (all_of (map (fun o => Negation (enters s o)) os))) = true).
  { apply (use (Claim (spans os) _)); [|apply spans_true]. unfold summed_claims. apply in_or_app. left. now left. }
  assert (C3 : forall o, In o os -> T (enters s o) = true -> W (part s o) <= top).
  { intros o I E. assert (C : T (Either (Negation (enters s o)) (AtMost (part s o) (top_at q))) = true).
    { apply (use (Claim (spans os) _)); [|apply spans_true]. unfold summed_claims. apply in_or_app. left. right. right. apply (in_map (fun o => Claim (spans os) (Either (Negation (enters s o)) (AtMost (part s o) (top_at q))))). exact I. }
    unfold T in C, E. cbn [truth] in C. rewrite E in C. cbn [negb orb] in C. now apply Z.leb_le in C. }
  unfold T in C1. cbn [truth] in C1. rewrite truth_any, truth_all, existsb_map, forallb_map in C1. apply orb_prop in C1. destruct C1 as [C1|C1].
  - left. apply existsb_exists in C1. destruct C1 as [o [I H]]. cbn [truth] in H. apply andb_prop in H. destruct H as [H1 H2]. apply Z.eqb_eq in H2. fold W in H2. change (W (top_at q)) with top in H2.
    pose proof (IM o I) as J. fold T in H1. rewrite H1, H2 in J. destruct (fold_right omax None es) as [e|].
    + destruct FM as [I1 M1]. specialize (M1 _ J). destruct (OM e I1) as [o' [O1 [O2 ->]]]. specialize (C3 o' O1 O2). f_equal. lia.
    + specialize (FM _ J). discriminate.
  - right. rewrite forallb_forall in C1. assert (ALL : forall o, In o os -> T (enters s o) = false) by (intros o I; specialize (C1 o I); now apply negb_true_iff in C1).
    split; auto. destruct (fold_right omax None es) as [e|]; auto. destruct FM as [I1 _]. destruct (OM e I1) as [o [O1 [O2 _]]]. rewrite (ALL o O1) in O2. discriminate.
Qed.

Lemma below_top o : In o os -> v (gone o) =? 1 = false -> v (code (its_number o)) + low (its_number o) <= top.
Proof.
  intros I G. assert (C : T (Either (Negation (enters s o)) (AtMost (part s o) (top_at q))) = true).
  { apply (use (Claim (spans os) _)); [|apply spans_true]. unfold summed_claims. apply in_or_app. left. right. right. apply (in_map (fun o => Claim (spans os) (Either (Negation (enters s o)) (AtMost (part s o) (top_at q))))). exact I. }
  unfold T, enters, part in C. destruct (zeros_at s); cbn [truth value Always exponent top_at] in C; rewrite ?G in C; cbn [negb orb] in C; now apply Z.leb_le in C.
Qed.

Lemma in_cuts o y q0 : In (o, y) (combine os (cuts q)) -> In q0 (cut_claims m s f os q o y) -> In q0 (summed_claims m s f os q).
Proof. intros I J. unfold summed_claims. apply in_or_app. right. apply in_or_app. left. apply in_flat_map. exists (o, y). auto. Qed.

Definition counted (p : entry * cutting) : Z := with_sign (v (sign (its_number (fst p))) =? 1) (v (left_of (snd p))).

Lemma cut_is x o y : is_entry x o -> In (o, y) (combine os (cuts q)) ->
  cut_term s top f (finest s f) x = counted (o, y) /\ 0 <= v (left_of y) <= most_left y /\ (T (enters s o) = false -> v (left_of y) = 0).
Proof.
  intros [N [G [SP CC]]] I. pose proof parts as PP. destruct PP as [TB [CB [_ [_ [N1 [N2 [_ [_ [F0 [FF [_ [_ [_ [FO [FC _]]]]]]]]]]]]]]].
  destruct (FO o (in_combine_l _ _ _ _ I)) as [[G0 G1] _]. destruct (FC y (in_combine_r _ _ _ _ I)) as [[D0 _] [[O0 _] [A0 _]]].
  set (how := how_of s o). assert (NH : nearest how = true) by (unfold how, how_of; now destruct (from_c o)).
  set (n := its_number o) in *. set (b := v (sign n) =? 1).
  assert (C2 := use _ (in_cuts o y _ I (or_intror (or_introl eq_refl))) eq_refl). assert (C3 := use _ (in_cuts o y _ I (or_intror (or_intror (or_introl eq_refl)))) eq_refl).
  assert (C4 := use _ (in_cuts o y _ I (or_intror (or_intror (or_intror (or_introl eq_refl))))) eq_refl). cbn [goal] in C2, C3, C4. fold how n in C2, C3.
  apply near_true in C2, C3. cbn [truth value] in C2, C3. fold b in C2, C3. rewrite Z.pow_0_r, Z.mul_1_r in C3.
  unfold T in C4. cbn [truth value] in C4. apply Z.leb_le in C4.
  set (up := up_by f o) in *. set (dn := down_by f o) in *. assert (U0 : 0 <= up) by apply Z.le_max_l. assert (DN0 : 0 <= dn) by apply Z.le_max_l.
  assert (WN : 0 <= width_in m (significand n)). { destruct (Z.lt_ge_cases (width_in m (significand n)) 0) as [L|L]; [rewrite Z.pow_neg_r in G1 by lia; lia|lia]. }
  assert (C3' : term_div how (with_sign b (v (once y))) (f - finest s f) = with_sign b (v (left_of y))).
  { replace (f - finest s f) with ((f - finest s f) + 0 - 0) by lia. apply near_is; auto; try lia; try now rewrite Z.pow_0_r, !Z.mul_1_r. }
  assert (CT : forall z, z = with_sign b (v (once y)) -> term_div how (signed (Wide.number x)) (top - f - lsb (Wide.number x)) = z -> cut_term s top f (finest s f) x = counted (o, y)).
  { intros z -> E. unfold cut_term. rewrite CB, CC. replace (if from_c o then f else f) with f by now destruct (from_c o).
    change (if from_c o then c_term_cut s else term_cut s) with how. rewrite E. exact C3'. }
  assert (NOTHING : v (significand n) = 0 -> v (once y) = 0 /\ v (left_of y) = 0).
  { intros Z0. rewrite Z0, Z.mul_0_l in C2. apply near_nothing in C2. 2: { repeat apply Z.mul_pos_pos; try apply pow2_pos; unfold clamp; fold n; lia. }
    split; auto. rewrite C2 in C3. apply near_nothing in C3; auto. apply pow2_pos; lia. }
  assert (SG : signed (num_in v n) = with_sign b (v (significand n))) by (unfold signed, num_in, with_sign; cbn [neg sig]; reflexivity).
  destruct (v (gone o) =? 1) eqn:GG.
  - symmetry in G. apply andb_prop in G. destruct G as [Z0 _]. unfold is_zero, num_in in Z0; cbn [sig] in Z0. apply Z.eqb_eq in Z0. destruct (NOTHING Z0) as [Q1 Q2].
    split; [|split; [lia|auto]]. apply (CT _ eq_refl). rewrite N, SG, Z0, Q1. replace (with_sign b 0) with 0 by (unfold with_sign; now destruct b). now apply term_div_0.
  - pose proof (below_top o (in_combine_l _ _ _ _ I) GG) as BT. fold n in BT.
    assert (C1 : v (distance y) = top - (v (code n) + low n)).
    { assert (C := use _ (in_cuts o y _ I (or_introl eq_refl))). cbn [given goal] in C. fold n in C. 
      assert (GV : forallb T (Negation (Is (gone o)) :: AtMost (exponent n) (top_at q) :: spans os) = true).
      { cbn [forallb]. rewrite spans_true. unfold T. cbn [truth value exponent top_at]. rewrite GG. cbn [negb]. fold n. assert (BL : (v (code n) + low n <=? v (e_top q) + e_low q) = true) by (apply Z.leb_le; exact BT). rewrite BL. reflexivity. }
      specialize (C GV). unfold T in C. cbn [truth value exponent top_at] in C. now apply Z.eqb_eq in C. }
    split; [|split; [lia|]].
    + apply (CT _ eq_refl). rewrite N, SG. unfold lsb, num_in; cbn [exp frac].
      replace (top - f - (v (code n) + low n - bits_below n)) with (v (distance y) + dn - up) by (rewrite C1; unfold dn, up, down_by, up_by; fold n; lia).
      apply near_is; auto. eapply near_by_clamped; [exact D0| |exact DN0| |exact C2].
      * unfold clamp. fold n up. lia.
      * unfold clamp. fold n up. rewrite Z.pow_add_r, Z.pow_add_r by lia. pose proof (pow2_pos up U0). change (2 ^ 1) with 2. rewrite Z.abs_mul, !Z.abs_eq by lia.
        assert (v (significand n) * 2 ^ up < 2 ^ width_in m (significand n) * 2 ^ up) by (apply Z.mul_lt_mono_pos_r; lia). lia.
    + intros E. exfalso. unfold T, enters in E. destruct (zeros_at s); cbn [truth Always value] in E; rewrite ?GG in E; discriminate.
Qed.

Lemma with_entry p : In p (combine os (cuts q)) -> exists x, is_entry x (fst p).
Proof. destruct p as [o y]. intros I. destruct (forall2_right _ _ _ entries_are o (in_combine_l _ _ _ _ I)) as [x [_ P]]. now exists x. Qed.

Lemma counts_is : map (cut_term s top f (finest s f)) l = map counted (combine os (cuts q)).
Proof.
  assert (LN : length os = length (cuts q)) by apply parts. apply (map_pairs is_entry _ _ _ _ _ entries_are LN).
  intros x o y P I. now apply cut_is.
Qed.

Let pair i := (nth i os nobody, nth i (cuts q) no_cut).

Lemma pair_in i : (i < length os)%nat -> In (pair i) (combine os (cuts q)).
Proof.
  intros H. assert (LN : length os = length (cuts q)) by apply parts. unfold pair. rewrite <- combine_nth by easy. apply nth_In. rewrite combine_length. lia.
Qed.

Lemma in_adding q0 : In q0 (adding_claims s os q) -> In q0 (summed_claims m s f os q).
Proof. intros I. unfold summed_claims. do 2 (apply in_or_app; right). exact I. Qed.

Lemma adder_is t : (forall q0, In q0 (adder_claims os q t) -> In q0 (adding_claims s os q)) -> (forall i, In i (places t) -> (i < length os)%nat) ->
  sg (width_in m (tree_node t)) (v (tree_node t)) = zsum (map (fun i => counted (pair i)) (places t)) /\
  - adder_bound q t <= sg (width_in m (tree_node t)) (v (tree_node t)) <= adder_bound q t.
Proof.
  induction t as [n i|n a IHl b IHr]; intros Q P.
  - pose proof (pair_in i (P i (or_introl eq_refl))) as I. destruct (with_entry _ I) as [x E]. destruct (cut_is x _ _ E I) as [_ [B _]].
    pose proof (use _ (in_adding _ (Q _ (or_introl eq_refl))) eq_refl) as H. unfold T in H. cbn [goal truth value] in H. apply Z.eqb_eq in H.
    cbn [tree_node places map zsum fold_right adder_bound]. fold m in H. rewrite H. unfold counted, pair, with_sign; cbn [fst snd].
    destruct (v (sign (its_number (nth i os nobody))) =? 1); lia.
  - destruct IHl as [SL BL]. { intros q0 I. apply Q. cbn [adder_claims]. right. apply in_or_app. now left. } { intros i I. apply P. cbn [places]. apply in_or_app. now left. }
    destruct IHr as [SR BR]. { intros q0 I. apply Q. cbn [adder_claims]. right. apply in_or_app. now right. } { intros i I. apply P. cbn [places]. apply in_or_app. now right. }
    assert (H : T (Equal (Sg n) (Plus (Sg (tree_node a)) (Sg (tree_node b)))) = true).
    { apply (use (Claim [within_adder q a; within_adder q b] (Equal (Sg n) (Plus (Sg (tree_node a)) (Sg (tree_node b)))))). apply in_adding, Q. now left.
      cbn [given forallb]. unfold T, within_adder. rewrite !(proj2 (truth_within m v _ _)) by (cbn [value]; assumption). reflexivity. }
    unfold T in H. cbn [truth value] in H. apply Z.eqb_eq in H. cbn [tree_node places adder_bound]. fold m in H. rewrite H, map_app, zsum_app, <- SL, <- SR. split; [reflexivity|]. clear - BL BR. lia.
Qed.

Let before := sg (width_in m (before_fault q)) (v (before_fault q)).
Let n := sg (width_in m (counted_node q)) (v (counted_node q)).

Lemma before_is : before = zsum (map counted (combine os (cuts q))) /\ - adder_bound q (adders q) <= before <= adder_bound q (adders q).
Proof.
  assert (PL : forall i, In i (places (adders q)) -> (i < length os)%nat) by apply parts.
  assert (PR : Permutation.Permutation (seq 0 (length os)) (places (adders q))) by apply parts.
  assert (LN : length os = length (cuts q)) by apply parts.
  destruct (adder_is (adders q)) as [S B]; auto. { intros q0 I. right. now right. }
  assert (H : T (Equal (Sg (before_fault q)) (Sg (tree_node (adders q)))) = true).
  { apply (use (Claim [within_adder q (adders q)] (Equal (Sg (before_fault q)) (Sg (tree_node (adders q)))))). apply in_adding. now left.
    cbn [given forallb]. unfold T, within_adder. rewrite !(proj2 (truth_within m v _ _)) by (cbn [value]; assumption). reflexivity. }
  unfold T in H. cbn [truth value] in H. apply Z.eqb_eq in H. fold m before in H. rewrite <- H in B, S. split; auto. rewrite S.
  rewrite <- (zsum_perm _ _ (Permutation.Permutation_map _ PR)). f_equal.
  rewrite (map_ext_in _ (fun i => counted (nth i (combine os (cuts q)) (nobody, no_cut)))) by (intros i _; unfold pair; now rewrite combine_nth by easy).
  replace (length os) with (length (combine os (cuts q))) by (rewrite combine_length; lia). generalize (combine os (cuts q)). clear. intros k.
  rewrite <- (map_map (fun i => nth i k (nobody, no_cut)) counted). f_equal.
  induction k as [|a k IH]; auto. cbn [length seq map nth]. f_equal. rewrite <- seq_shift, map_map. exact IH.
Qed.

Lemma n_is : n = match minus_one s with Some j => if before =? -1 then - 2 ^ j else before | None => before end /\ - sum_bound s q <= n <= sum_bound s q.
Proof.
  destruct before_is as [_ B].
  assert (H : T (Equal (Sg (counted_node q)) (match minus_one s with
     | Some j => If (Equal (Sg (before_fault q)) (Num_ (-1))) (Num_ (- 2 ^ j)) (Sg (before_fault q))
     | None => Sg (before_fault q) end)) = true).
  { apply (use (Claim [within (adder_bound q (adders q)) (Sg (before_fault q))] _)). apply in_adding. right. now left.
    cbn [given forallb]. unfold T. rewrite (proj2 (truth_within m v _ _)) by exact B. reflexivity. }
  assert (E : n = match minus_one s with Some j => if before =? -1 then - 2 ^ j else before | None => before end).
  { unfold T in H. destruct (minus_one s); cbn [truth value] in H; apply Z.eqb_eq in H; exact H. }
  split; auto. rewrite E. unfold sum_bound. assert (MO : match minus_one s with Some j => 0 <= j | None => True end) by apply parts.
  destruct (minus_one s) as [j|]; [|lia]. pose proof (pow2_pos j MO). destruct (before =? -1); lia.
Qed.

(** The sum of the specification: its count is that of the node, and its largest exponent that of the circuit, if it has one. *)
Theorem summed_is : exists ns e, (Wide.summed s l = (n, top - finest s f, ns, Some e) /\ e = top /\ existsb (fun o => T (enters s o)) os = true) \/
  (Wide.summed s l = (n, 0, ns, None) /\ n = 0 /\ e = 0 /\ existsb (fun o => T (enters s o)) os = false).
Proof.
  destruct parts as [TB [CB [RO_ [CS [_ [_ [_ [_ [_ [_ [_ [LN [NE _]]]]]]]]]]]]]. destruct before_is as [BI _]. destruct n_is as [NI _].
  unfold Wide.summed. rewrite TB. destruct largest_is as [L|[L H]]; rewrite L.
  - exists (map counted (combine os (cuts q))), top. left. unfold unit_bits. rewrite CB.
    replace (match second_bits s with Some g => g | None => f end) with (finest s f) by reflexivity.
    rewrite counts_is, <- BI, RO_, CS, <- NI. repeat split; auto.
    apply existsb_exists. destruct (existsb (fun o => T (enters s o)) os) eqn:X. { apply existsb_exists in X. exact X. }
    exfalso. unfold largest_in in L. assert (AL : forall o, In o os -> T (enters s o) = false).
    { intros o I. destruct (T (enters s o)) eqn:Y; auto. rewrite <- X. symmetry. apply existsb_exists. eauto. }
    assert (CD : c_decides s = true) by apply parts. rewrite CD in L. cbn [orb] in L.
    assert (F : forall k : list Wide.addend, filter (fun _ : Wide.addend => true) k = k) by (induction k; cbn [filter]; congruence). rewrite F in L.
    replace (match l with [] => l | _ :: _ => l end) with l in L by now destruct l.
    pose proof (fold_max (map (exponent_in s) l)) as FM. rewrite L in FM. destruct FM as [FM _]. apply in_map_iff in FM. destruct FM as [x [EX J]].
    destruct (forall2_left _ _ _ entries_are x J) as [o [O1 P]]. rewrite (exponent_is x o P), (AL o O1) in EX. discriminate.
  - assert (Z0 : n = 0).
    { assert (B0 : before = 0).
      { rewrite BI. assert (A0 : forall p, In p (combine os (cuts q)) -> counted p = 0).
        { intros [o y] I. destruct (with_entry _ I) as [x P]. destruct (cut_is x o y P I) as [_ [_ C]]. specialize (C (H o (in_combine_l _ _ _ _ I))). unfold counted. cbn [fst snd]. rewrite C. unfold with_sign. now destruct (_ =? 1). }
        now apply zsum_none. }
      rewrite NI, B0. now destruct (minus_one s). }
    exists (map (fun _ => 0) l), 0. right. rewrite Z0. repeat split; auto.
    destruct (existsb (fun o => T (enters s o)) os) eqn:X; auto. apply existsb_exists in X. destruct X as [o [I Y]]. rewrite (H o I) in Y. discriminate.
Qed.

Lemma top_span_is : v (e_top q) <= e_span q.
Proof.
  assert (C : T (AtMost (U (e_top q)) (Num_ (e_span q))) = true).
  { apply (use (Claim (spans os) _)); [|apply spans_true]. unfold summed_claims. apply in_or_app. left. right. now left. }
  unfold T in C. cbn [truth value] in C. now apply Z.leb_le in C.
Qed.

Lemma bound_is : - sum_bound s q <= n <= sum_bound s q.
Proof. apply n_is. Qed.
End Sound.

(** * A sum that stays as it is *)

Section Staying.
Variables (s : wide_sum) (f : Z) (os : list entry) (q : wide_plan) (least : Z) (below : bool) (o : entry).
Let n := Sg (counted_node q).
Let r := its_number o.
Definition known_sum : list formula := [within (sum_bound s q) n; AtMost (U (e_top q)) (Num_ (e_span q))].
Definition lost : formula :=
  Either (match zeros_at s with ZeroNone => all_of (map (fun x => Is (gone x)) os) | _ => Never end) (if below then Less (top_at q) (Num_ least) else Never).
Definition staying_claims : list claim :=
  [Claim known_sum (Iff (Is (gone o)) lost);
   Claim known_sum (Iff (Is (sign r)) (Both (Negation lost) (Less n (Num_ 0))));
   Claim known_sum (Equal (U (significand r)) (If lost (Num_ 0) (Abs n)));
   Claim known_sum (Equal (exponent r) (If lost (Num_ least) (top_at q)));
   Claim known_sum (AtMost (U (code r)) (Num_ (its_span o)))].
Definition staying_ok : bool := (bits_below r =? finest s f) && negb (from_c o).
End Staying.

Section Stays.
Variables (ct : circuit) (s : wide_sum) (f : Z) (os : list entry) (q : wide_plan) (v : env) (ts : list (Wide.term * bool)) (least : Z) (below : bool) (o : entry).
Let m := widths_of ct.
Let T := truth m v.
Hypothesis CIRC : circuit_ok ct = true.
Hypothesis SOL : solution ct v.
Hypothesis OK : summed_ok m s f os q = true.
Hypothesis CL : Forall (holds ct) (summed_claims m s f os q).
Hypothesis ST : Forall2 (stands v) ts os.
Hypothesis SO : staying_ok s f o = true.
Hypothesis CS : Forall (holds ct) (staying_claims s os q least below o).
Hypothesis BE : becomes s = Stays least below.

Let l := map (fun x : Wide.term * bool => {| Wide.number := num_of (Wide.its (fst x)); counts_at_zero := alive (fst x); is_c := snd x |}) ts.
Let n := sg (width_in m (counted_node q)) (v (counted_node q)).

Lemma known_holds : forallb T (known_sum s q) = true.
Proof.
  unfold known_sum. cbn [forallb]. unfold T. rewrite (proj2 (truth_within m v _ _)) by exact (bound_is ct s f os q v ts CIRC SOL OK CL ST).
  cbn [truth value]. rewrite (proj2 (Z.leb_le _ _) (top_span_is ct s f os q v ts SOL CL ST)). reflexivity.
Qed.

Lemma staying_nth k c : nth_error (staying_claims s os q least below o) k = Some c -> T (goal c) = true.
Proof.
  intros N. rewrite Forall_forall in CS. apply (CS c (nth_error_In _ _ N) v SOL). do 5 (destruct k as [|k]; [inversion N; subst c; exact known_holds|]). destruct k; discriminate N.
Qed.

Theorem stays_stands : stands v (Wide.ended s l, false) o.
Proof.
  pose proof (staying_nth 0%nat _ eq_refl) as H0. pose proof (staying_nth 1%nat _ eq_refl) as H1. pose proof (staying_nth 2%nat _ eq_refl) as H2.
  pose proof (staying_nth 3%nat _ eq_refl) as H3. pose proof (staying_nth 4%nat _ eq_refl) as H4. cbn [goal] in *.
  set (z := T (lost s os q least below)). unfold T in H0, H1. rewrite truth_iff in H0, H1. apply eqb_prop in H0, H1. cbn [truth value] in H0, H1. fold T in H0, H1. fold z in H0, H1. fold m n in H1.
  unfold T in H2, H3, H4. cbn [truth value exponent top_at] in H2, H3, H4. fold T in H2, H3. fold z in H2, H3. fold m n in H2. apply Z.eqb_eq in H2, H3. apply Z.leb_le in H4.
  unfold staying_ok in SO. apply andb_prop in SO. destruct SO as [BB FC]. apply Z.eqb_eq in BB. apply negb_true_iff in FC.
  destruct (parts ct s f os q v ts CIRC SOL OK CL ST) as [TB [_ [_ [_ [_ [_ [_ [_ [_ [_ [_ [_ [NE _]]]]]]]]]]]]].
  assert (FZ : match second_bits s, term_bits s with Some g, _ => g | None, Some f => f | None, None => 0 end = finest s f) by (unfold finest; rewrite TB; now destruct (second_bits s)).
  assert (ZERO : z = true -> stands v (Wide.plain (Num (stays_zero s least)), false) o).
  { intros Z1. rewrite Z1 in *. constructor; cbn [fst snd Wide.plain Wide.its alive]; auto.
    - unfold num_in, stays_zero. rewrite H1, H2, H3, BB, FZ. reflexivity.
    - rewrite H0. unfold is_zero, num_in. cbn [sig]. now rewrite H2. }
  assert (WHOLE : z = false -> stands v ({| Wide.its := Num {| neg := n <? 0; sig := Z.abs n; exp := v (e_top q) + e_low q; frac := v (e_top q) + e_low q - (v (e_top q) + e_low q - finest s f) |}; alive := true |}, false) o).
  { intros Z1. rewrite Z1 in *. constructor; cbn [fst snd Wide.its alive]; auto.
    - unfold num_in. rewrite H1, H2, H3, BB. cbn [negb andb]. do 2 f_equal. lia.
    - rewrite H0. cbn [negb]. now rewrite andb_false_r. }
  destruct (summed_is ct s f os q v ts CIRC SOL OK CL ST) as [ns [e [[E [ET X]]|[E [N0 [ET X]]]]]]; unfold Wide.ended; rewrite BE; fold l m n in E; rewrite E.
  - assert (NO : T (match zeros_at s with ZeroNone => all_of (map (fun x => Is (gone x)) os) | _ => Never end) = false).
    { unfold T. destruct (zeros_at s) eqn:ZA; try reflexivity. rewrite truth_all, forallb_map. destruct (forallb _ os) eqn:Y; auto. rewrite forallb_forall in Y.
      apply existsb_exists in X. destruct X as [x [I1 I2]]. specialize (Y x I1). unfold enters in I2. rewrite ZA in I2. cbn [truth] in I2, Y. fold m in I2. rewrite Y in I2. discriminate. }
    assert (ZE : z = below && (v (e_top q) + e_low q <? least)).
    { unfold z, lost, T. cbn [truth]. unfold T in NO. rewrite NO. cbn [orb]. now destruct below. }
    subst e. rewrite <- ZE. destruct z; auto.
  - assert (ZE : z = true).
    { unfold z, lost, T. cbn [truth]. destruct (zeros_at s) eqn:ZA.
      - rewrite truth_all, forallb_map. replace (forallb _ os) with true; auto. symmetry. apply forallb_forall. intros x I. cbn [truth].
        destruct (v (gone x) =? 1) eqn:Y; auto. rewrite <- X. apply existsb_exists. exists x. split; auto. unfold enters. rewrite ZA. cbn [truth]. now rewrite Y.
      - exfalso. destruct os as [|x k]; [easy|]. cbn [existsb] in X. unfold enters in X. rewrite ZA in X. discriminate X.
      - exfalso. destruct os as [|x k]; [easy|]. cbn [existsb] in X. unfold enters in X. rewrite ZA in X. discriminate X. }
    auto.
Qed.
End Stays.

(** * A sum that is rounded: to nearest, ties away from zero, too; where it is tiny as well *)

Definition with_mode (r : mode) (t : bool) (c : conversion) : conversion :=
  {| rho := r; p := p c; emin := emin c; emax := emax c; overflow := overflow c; flushes := flushes c; tiny := t; zsign := zsign c |}.

Lemma tiny_away c n u : 0 <= p c -> rho c = RNA -> n <> 0 -> is_tiny (with_mode RNE true c) n u = is_tiny c n u.
Proof.
  intros P R N. unfold is_tiny, with_mode; cbn [rho p emin]. rewrite R. set (d := Z.log2 (Z.abs n) + u - p c - u).
  replace (Z.log2 (Z.abs n) + u - p c - u) with d by reflexivity.
  assert (E : Z.log2 (Z.abs (round_div RNE n d)) = Z.log2 (Z.abs (round_div RNA n d))); [|now rewrite E].
  destruct (Z.le_gt_cases d 0) as [L|L]; [rewrite !round_div_unfold; destruct (Z.leb_spec d 0); [reflexivity|lia]|].
  set (a := Z.abs n) in *. assert (A0 : 0 < a) by lia. pose proof (pow2_pos d ltac:(lia)) as PD. destruct (Z.log2_spec a A0) as [L1 L2].
  assert (LD : Z.log2 a = p c + d) by (unfold d; lia). rewrite LD in L1, L2. rewrite <- Z.add_1_r in L2. replace (p c + d + 1) with ((p c + 1) + d) in L2 by lia. rewrite Z.pow_add_r in L1, L2 by lia.
  set (k := a / 2 ^ d). pose proof (Z.div_mod a (2 ^ d) ltac:(lia)) as DM. pose proof (Z.mod_pos_bound a (2 ^ d) PD) as MB. fold k in DM.
  assert (K1 : 2 ^ p c <= k < 2 ^ (p c + 1)). { split; [apply Z.div_le_lower_bound; lia|apply Z.div_lt_upper_bound; lia]. }
  assert (PP : 2 ^ (p c + 1) = 2 * 2 ^ p c) by (rewrite Z.pow_add_r by lia; lia).
  assert (KB : k * 2 ^ d <= a < (k + 1) * 2 ^ d) by lia. pose proof (pow2_pos (p c) P) as P0.
  rewrite (round_div_kept RNE n k d), (round_div_kept RNA n k d) by (fold a; lia). fold a.
  assert (AB : forall b, Z.abs (with_sign (n <? 0) (k + Z.b2z b)) = k + Z.b2z b) by (intros b; unfold with_sign; destruct (n <? 0), b; cbn [Z.b2z]; lia). rewrite !AB.
  cbn [away_rule]. set (r := a - k * 2 ^ d). set (h := 2 ^ d) in *.
  destruct (Z.ltb_spec h (2 * r)), (Z.eqb_spec h (2 * r)), (Z.leb_spec h (2 * r)); cbn [orb andb]; try lia; auto.
  destruct (Z.odd k) eqn:OD; auto. cbn [Z.b2z]. rewrite Z.add_0_r.
  assert (EV : Z.even k = true) by (rewrite <- Z.negb_odd, OD; reflexivity). apply Z.even_spec in EV. destruct EV as [j EV].
  replace (Z.log2 k) with (p c) by (symmetry; apply Z.log2_unique; [lia|]; rewrite <- Z.add_1_r; lia).
  symmetry. apply Z.log2_unique; [lia|]. rewrite <- Z.add_1_r. lia.
Qed.

Definition rounding_fine (m : widths) (c : conversion) (x : ending) : bool :=
  (0 <=? p c) && (emin c <=? emax c) && (negb (tiny c) || (0 <? p c)) && match rho c with RNA => true | _ => false end &&
  match zsign c with Positive => true | _ => false end && (bits_below (outcome x) =? p c) && (width_in m (kept x) =? p c + 1).

Section Rounded.
Variables (ct : circuit) (c : conversion) (x : ending) (q : to_round) (v : env) (n u : Z).
Let m := widths_of ct.
Let T := truth m v.
Let W := value m v.
Hypothesis OK : rounding_fine m c x = true.
Hypothesis CK : Forall (holds ct) (kept_claims c x q).
Hypothesis CO : Forall (holds ct) (outcome_claims c x q).
Hypothesis SOL : solution ct v.
Hypothesis NODES : forall i, In i (ending_nodes x) -> fits m v i.
Hypothesis N : Finish.counted ct q v n u.
Hypothesis B : Z.abs n <= bound q.
Hypothesis KN : forallb T (known q) = true.
Hypothesis NS : operands q = [].

Lemma fine_parts : 0 <= p c /\ emin c <= emax c /\ (tiny c = true -> 0 < p c) /\ rho c = RNA /\ zsign c = Positive /\ bits_below (outcome x) = p c /\ width_in m (kept x) = p c + 1.
Proof.
  unfold rounding_fine in OK. rewrite !andb_true_iff in OK. destruct OK as [[[[[[A A1] C] D] E] F] G]. apply Z.leb_le in A, A1. apply Z.eqb_eq in F, G.
  split; [auto|]. split; [auto|]. split. { intros Q. rewrite Q in C. now apply Z.ltb_lt in C. } split. { destruct (rho c); easy. } split; [destruct (zsign c); easy|auto].
Qed.

Lemma facts : kept_facts c n u (v (kept x)) (v (height x)) (v (away x) =? 1).
Proof.
  destruct fine_parts as [P [M [_ [R [_ [BB WK]]]]]]. set (c0 := with_mode RNA false c).
  assert (OK0 : ending_ok m c0 x = true).
  { unfold ending_ok, c0, with_mode; cbn [p emin emax tiny rho]. rewrite (proj2 (Z.leb_le _ _) P), (proj2 (Z.leb_le _ _) M), BB, WK, !Z.eqb_refl. reflexivity. }
  assert (CK0 : Forall (holds ct) (kept_claims c0 x q)).
  { assert (E : kept_claims c0 x q = kept_claims c x q); [|now rewrite E]. unfold kept_claims, c0, with_mode, null, normal, last_kept, left, right, away_formula, rest_term, one_term, last_kept, right, most; cbn [p emin rho]. now rewrite R. }
  destruct (kept_is ct c0 x q v OK0 CK0 SOL NODES n u N B KN) as [K1 K2 K3 K4 K5 K6]. unfold c0, with_mode in *; cbn [p emin rho] in *.
  constructor; auto. intros Nz L. rewrite R. exact (K6 Nz L).
Qed.

Lemma tiny_fact : tiny c = true -> n <> 0 -> 2 ^ p c <= v (kept x) + Z.b2z (v (away x) =? 1) -> T (tiny_formula c x q) = is_tiny c n u.
Proof.
  intros TI Nz R. destruct fine_parts as [P [_ [P1 [RN [_ [_ WK]]]]]]. specialize (P1 TI). pose proof facts as KF. pose proof KF as [K1 K2 K3 K4 K5 K6]. specialize (K4 Nz). specialize (K5 Nz). specialize (K6 Nz).
  destruct N as [SZ ZR DN UT]. set (k := v (height x) + emin c - p c - u) in *.
  (* the same with ties to even *)
  set (aw := if Z.leb (v (height x) + emin c - p c) u then false else away_rule RNE (n <? 0) (Z.abs n) (v (kept x)) k).
  assert (KE : kept_facts (with_mode RNE true c) n u (v (kept x)) (v (height x)) aw).
  { unfold with_mode. constructor; cbn [p emin rho]; auto; unfold aw.
    - intros Z0. easy.
    - intros _ L. rewrite (proj2 (Z.leb_le _ _) L). split; [now apply K5|reflexivity].
    - intros _ L. destruct (Z.leb_spec (v (height x) + emin c - p c) u); [lia|]. split; [now apply K6|reflexivity]. }
  assert (R2 : 2 ^ p c <= v (kept x) + Z.b2z aw).
  { destruct (Z.le_gt_cases (2 ^ p c) (v (kept x))) as [L|L]; [destruct aw; cbn [Z.b2z]; lia|].
    destruct (v (away x) =? 1) eqn:AW; cbn [Z.b2z] in R; [|lia]. assert (KK : v (kept x) = 2 ^ p c - 1) by lia.
    unfold aw. destruct (Z.leb_spec (v (height x) + emin c - p c) u) as [G|G]; [destruct (K5 G); discriminate|].
    destruct (K6 G) as [_ A]. rewrite RN in A. fold k. cbn [away_rule] in A |- *. symmetry in A. apply Z.leb_le in A. fold k in A.
    assert (OD : Z.odd (v (kept x)) = true). { rewrite KK. replace (2 ^ p c) with (2 * 2 ^ (p c - 1)) by (rewrite <- Z.pow_succ_r by lia; f_equal; lia). rewrite Z.odd_sub, Z.odd_mul. reflexivity. }
    rewrite OD, andb_true_r. destruct (Z.ltb_spec (2 ^ k) (2 * (Z.abs n - v (kept x) * 2 ^ k))), (Z.eqb_spec (2 ^ k) (2 * (Z.abs n - v (kept x) * 2 ^ k))); cbn [orb Z.b2z]; lia. }
  destruct (tiny_kept (with_mode RNE true c) n u _ _ _ P1 (or_introl eq_refl) KE Nz R2) as [KP TK]. cbn [with_mode p emin] in KP, TK. fold k in KP, TK.
  rewrite (tiny_away c n u P RN Nz) in TK. rewrite TK. clear TK KE R2 aw.
  unfold T, tiny_formula. rewrite TI. cbn [truth value]. destruct (Z.eqb_spec (v (kept x)) (2 ^ p c - 1)) as [Q|Q]; [|reflexivity]. cbn [andb]. specialize (KP Q).
  fold m W in SZ, UT |- *. assert (LK : W (last_kept c x) = v (height x) + emin c - p c) by (unfold W; cbn [value last_kept]; lia).
  assert (RI : W (right c x q) = Z.min k (most c q)) by (unfold W; cbn [value right]; fold W; rewrite LK, UT; reflexivity).
  assert (RT : W (rest_term c x q) = Z.abs n - v (kept x) * 2 ^ Z.min k (most c q)) by (unfold W, rest_term; cbn [value]; fold W; now rewrite RI, SZ).
  assert (OT : W (one_term c x q) = 2 ^ Z.min k (most c q)) by (unfold W, one_term; cbn [value]; fold W; rewrite RI; lia).
  rewrite RT, OT. destruct (Z.le_gt_cases k (most c q)) as [J|J]; [now rewrite Z.min_l by lia|]. exfalso.
  destruct (K6 ltac:(unfold k in KP; lia)) as [[E1 _] _]. fold k in E1.
  assert (MO : Z.abs n < 2 ^ (most c q - 2)).
  { unfold most. rewrite RN. cbn [deciding_bits]. replace (Z.log2 (bound q + 1) + 2 + 1 - 2) with (Z.succ (Z.log2 (bound q + 1))) by lia. pose proof (Z.log2_spec (bound q + 1) ltac:(lia)). lia. }
  assert (M3 : 3 <= most c q) by (unfold most; rewrite RN; cbn [deciding_bits]; pose proof (Z.log2_nonneg (bound q + 1)); lia).
  assert (2 ^ (most c q - 2) <= 2 ^ k) by (apply Z.pow_le_mono_r; lia).
  assert (1 < 2 ^ p c) by (apply Z.pow_gt_1; lia). pose proof (pow2_pos k ltac:(lia)). nia.
Qed.

Lemma out_nth k r : nth_error (outcome_claims c x q) k = Some r -> forallb T (given r) = true -> T (goal r) = true.
Proof. intros Nt G. rewrite Forall_forall in CO. exact (CO r (nth_error_In _ _ Nt) v SOL G). Qed.

Lemma nothing_special : T (Finish.is_nan q) = false /\ T (is_inf q) = false.
Proof. unfold Finish.is_nan, is_inf, plus_inf, minus_inf. rewrite NS. split; reflexivity. Qed.

Lemma finished_fact : finished ct c x q v (T (sum_sign q)) n u.
Proof. pose proof facts. destruct N as [SZ ZR DN UT]. constructor; auto. intros. now apply tiny_fact. Qed.

Lemma usual_fact : forallb T (usual c x q) = true.
Proof. destruct nothing_special as [A A1]. exact (usual_is ct c x q v _ n u A A1 finished_fact). Qed.

Theorem rounded_is s : same_val (convert c s n u) (val_in v (outcome x)).
Proof.
  destruct nothing_special as [QN QI]. pose proof usual_fact as US. destruct finished_fact as [KF NZ DN SS TY KK]. fold m in NZ, DN, SS, TY, KK. fold T in NZ, DN, SS, TY, KK.
  destruct fine_parts as [P [M [_ [_ [ZS [BB _]]]]]].
  assert (SX : convert c s n u = convert c (T (sum_sign q)) n u) by (unfold convert; now rewrite ZS). rewrite SX. clear SX s. set (s := T (sum_sign q)) in *.
  assert (ST : forallb T (settled c x q) = true) by (unfold settled; rewrite forallb_app, US; destruct (tiny c); auto).
  eapply same_val_trans. { apply (convert_result _ _ _ _ _ _ _ P M KF). }
  pose proof (out_nth 0%nat _ eq_refl eq_refl) as R1. cbn [goal] in R1. unfold T in R1. rewrite truth_iff in R1. apply eqb_prop in R1. cbn [truth] in R1. fold T in R1. rewrite QN in R1.
  unfold val_in. rewrite R1.
  set (kk := v (kept x)) in *. set (hh := v (height x)) in *. set (aw := (v (away x) =? 1)) in *.
  assert (GR : W (grown x) = kk + Z.b2z aw) by (unfold W, grown; cbn [value truth]; fold kk aw; now destruct aw).
  assert (CA : T (carried c x) = carries c kk aw) by (unfold T, carried, carries; cbn [truth]; fold W; rewrite GR; reflexivity).
  assert (RA : W (raised c x) = hh + Z.b2z (carries c kk aw)) by (unfold W, raised; cbn [value]; fold T; rewrite CA; fold hh; now destruct (carries c kk aw)).
  assert (ZF : T (zero_formula c x q) = rounded_zero c (tiny c && is_tiny c n u) kk aw).
  { assert (EQ : T (Equal (grown x) (Num_ 0)) = (kk + Z.b2z aw =? 0)) by (unfold T; cbn [truth]; fold W; rewrite GR; reflexivity).
    assert (LT : T (Less (grown x) (Num_ (2 ^ p c))) = negb (2 ^ p c <=? kk + Z.b2z aw)) by (unfold T; cbn [truth]; fold W; rewrite GR, <- Z.ltb_antisym; reflexivity).
    unfold zero_formula, rounded_zero. change (T (Either ?a ?b)) with (T a || T b). rewrite EQ. f_equal. destruct (flushes c) eqn:FL; [|reflexivity].
    change (T (Either ?a ?b)) with (T a || T b). rewrite LT. cbn [andb].
    destruct (Z.leb_spec (2 ^ p c) (kk + Z.b2z aw)) as [G|G]; cbn [negb orb]; [|reflexivity].
    destruct (tiny c) eqn:TC; [|unfold T, tiny_formula; rewrite TC; reflexivity]. cbn [andb].
    destruct (Z.eq_dec n 0) as [Q|Q]; [|now apply TY]. exfalso. destruct (k_zero _ _ _ _ _ _ KF Q) as [K1 K2]. rewrite K1, K2 in G. simpl in G. pose proof (pow2_pos (p c) P). lia. }
  assert (OF : T (over_formula c x) = overflows c kk hh aw).
  { unfold T, over_formula, overflows; cbn [truth]. fold W. rewrite GR, RA. reflexivity. }
  assert (TI : T (to_infinity_formula c q) = to_infinity c (n <? 0)).
  { unfold T, to_infinity_formula, to_infinity. destruct (overflow c); try reflexivity. destruct (rho c); cbn [truth]; fold T; rewrite ?DN; reflexivity. }
  assert (ZSF : T (zero_sign_formula c q) = keeps_sign c (n =? 0) && s) by (unfold T, zero_sign_formula, keeps_sign; rewrite ZS; reflexivity).
  set (bl := tiny c && is_tiny c n u) in *.
  set (ov := Both (Negation (zero_formula c x q)) (Both (over_formula c x) (to_infinity_formula c q))).
  assert (OV : T ov = negb (rounded_zero c bl kk aw) && (overflows c kk hh aw && to_infinity c (n <? 0))).
  { unfold ov, T. cbn [truth]. fold T. now rewrite ZF, OF, TI. }
  assert (R3 : (v (inf (outcome x)) =? 1) = T ov).
  { pose proof (out_nth 2%nat _ eq_refl ST) as H. cbn [goal] in H. unfold T in H. rewrite truth_iff in H. now apply eqb_prop in H. }
  assert (R4 : (v (sign (outcome x)) =? 1) = (rounded_zero c bl kk aw && (keeps_sign c (n =? 0) && s) || negb (rounded_zero c bl kk aw) && (n <? 0))).
  { pose proof (out_nth 3%nat _ eq_refl ST) as H. cbn [goal] in H. unfold T in H. rewrite truth_iff in H. apply eqb_prop in H. cbn [truth] in H. fold T in H. rewrite ZF, ZSF, DN in H. exact H. }
  assert (GO : T ov = false -> v (significand (outcome x)) = (if rounded_zero c bl kk aw then 0 else if overflows c kk hh aw then 2 ^ (p c + 1) - 1 else if carries c kk aw then 2 ^ p c else kk + Z.b2z aw) /\
     v (code (outcome x)) + low (outcome x) = (if rounded_zero c bl kk aw then emin c else if overflows c kk hh aw then emax c else emin c + (hh + Z.b2z (carries c kk aw)))).
  { intros NO. assert (G : forallb T (Negation ov :: settled c x q) = true) by (cbn [forallb]; rewrite ST; unfold T; cbn [truth]; fold T; now rewrite NO).
    pose proof (out_nth 4%nat _ eq_refl G) as H4. pose proof (out_nth 5%nat _ eq_refl G) as H5. cbn [goal] in H4, H5.
    unfold T in H4, H5. cbn [truth value exponent] in H4, H5. fold T W in H4, H5. rewrite ZF, OF, ?CA, ?GR, ?RA in H4, H5. apply Z.eqb_eq in H4, H5. auto. }
  unfold result. rewrite R3. rewrite OV in *. destruct (rounded_zero c bl kk aw) eqn:QZ; cbn [negb andb orb] in R4, GO |- *.
  - destruct (GO eq_refl) as [H4 H5]. rewrite orb_false_r in R4. unfold same_val, same, num_in; cbn [neg exp sig frac]. rewrite R4, H4, H5, BB. repeat split.
  - destruct (overflows c kk hh aw) eqn:QO; cbn [andb] in GO |- *.
    + destruct (to_infinity c (n <? 0)) eqn:QT. { simpl. now rewrite R4. }
      destruct (GO eq_refl) as [H4 H5]. unfold same_val, same, num_in; cbn [neg exp sig frac]. rewrite R4, H4, H5, BB. repeat split.
    + destruct (GO eq_refl) as [H4 H5].
      unfold same_val, same, num_in; cbn [neg exp sig frac]. rewrite R4, H4, H5, BB. repeat split; try lia. unfold V, signed, lsb; cbn [neg sig exp frac]. do 2 f_equal. lia.
Qed.
End Rounded.

(** * Words *)

Definition shown_taken (bits : option (Z * Z)) (y : shown) : shown :=
  match bits with
  | None => y
  | Some (a, b) =>
      Shown (s_nan y) (s_inf y) (s_neg y)
        (Bits (Z.max 0 (s_frac y - b)) (b - a + 1) (Times (s_sig y) (Num_ (2 ^ Z.max 0 (b - s_frac y))))) (Plus (s_exp y) (Num_ (- a))) (b - a)
  end.

Definition shown_num (m : widths) (v : env) (y : shown) : num :=
  {| neg := truth m v (s_neg y); sig := value m v (s_sig y); exp := value m v (s_exp y); frac := s_frac y |}.

Lemma taken_shown m v bits y : taken bits (shown_num m v y) = shown_num m v (shown_taken bits y).
Proof.
  destruct bits as [[a b]|]; [|reflexivity]. unfold taken, shown_num, shown_taken; cbn [neg sig exp frac s_neg s_sig s_exp s_frac value]. f_equal.
  f_equal. rewrite round_div_unfold. destruct (Z.leb_spec (s_frac y - b) 0) as [L|L].
  - rewrite (Z.max_l 0 (s_frac y - b)) by lia. rewrite Z.pow_0_r, Z.div_1_r. do 2 f_equal. lia.
  - rewrite (Z.max_l 0 (b - s_frac y)) by lia. rewrite (Z.max_r 0 (s_frac y - b)) by lia. rewrite Z.pow_0_r, Z.mul_1_r. now destruct (_ =? 0).
Qed.

Lemma flushed_word m v f r w : special f = NoSpecials -> format_ok f = true -> rule_ok r = true -> 0 <= v w < 2 ^ word_width f ->
  flush r (decode f (v w)) = Num (shown_num m v (shown_flush r (shown_word f w))).
Proof.
  intros S F R B. rewrite (decode_shown m v f w F B). rewrite (flush_shown m v r _ R).
  - unfold val_of, shown_num. replace (s_nan (shown_flush r (shown_word f w))) with Never by (unfold shown_word; rewrite S; now destruct r).
    replace (s_inf (shown_flush r (shown_word f w))) with Never by (unfold shown_word; rewrite S; now destruct r). reflexivity.
  - unfold format_ok in F. rewrite !andb_true_iff, !Z.leb_le in F. unfold shown_word; cbn [s_frac]. lia.
  - unfold format_ok in F. rewrite !andb_true_iff, !Z.leb_le in F. unfold shown_word; cbn [s_sig value].
    set (t := (v w / 2 ^ ignored f) mod 2 ^ fbits f). assert (T0 : 0 <= t < 2 ^ fbits f) by (apply Z.mod_pos_bound, pow2_pos; lia).
    pose proof (pow2_pos (fbits f) ltac:(lia)). match goal with |- context [if ?b then _ else _] => destruct b end; [destruct (subnormals f); cbn [value]; fold t; lia|fold t; lia].
Qed.

(** An entry that a shown number is. *)
Definition shown_claims (y : shown) (zero : formula) (o : entry) : list claim :=
  let r := its_number o in
  [Claim [] (Iff (Is (sign r)) (s_neg y)); Claim [] (Equal (U (significand r)) (s_sig y)); Claim [] (Equal (exponent r) (s_exp y));
   Claim [] (Iff (Is (gone o)) zero); Claim [] (AtMost (U (code r)) (Num_ (its_span o)))].

Lemma shown_is ct y zero o v : Forall (holds ct) (shown_claims y zero o) -> solution ct v -> bits_below (its_number o) = s_frac y ->
  num_in v (its_number o) = shown_num (widths_of ct) v y /\ (v (gone o) =? 1) = truth (widths_of ct) v zero /\ v (code (its_number o)) <= its_span o.
Proof.
  intros CL SOL BB. set (m := widths_of ct). assert (Q : forall k c, nth_error (shown_claims y zero o) k = Some c -> truth m v (goal c) = true).
  { intros k c N. rewrite Forall_forall in CL. apply (CL c (nth_error_In _ _ N) v SOL). do 5 (destruct k as [|k]; [inversion N; subst c; reflexivity|]). destruct k; discriminate N. }
  pose proof (Q 0%nat _ eq_refl) as H0. pose proof (Q 1%nat _ eq_refl) as H1. pose proof (Q 2%nat _ eq_refl) as H2. pose proof (Q 3%nat _ eq_refl) as H3. pose proof (Q 4%nat _ eq_refl) as H4.
  cbn [goal] in *. rewrite truth_iff in H0, H3. apply eqb_prop in H0, H3. cbn [truth value exponent] in H0, H1, H2, H3, H4. apply Z.eqb_eq in H1, H2. apply Z.leb_le in H4.
  split; [|auto]. unfold num_in, shown_num. now rewrite H0, H1, H2, BB.
Qed.

(** * Units *)

Record wide_unit := WideUnit {
  a_nodes : list positive; b_nodes : list positive; c_node : positive;
  products : list entry; c_entry : entry;
  inner_sums : list (option (wide_plan * entry));   (** of each child of the last sum, where it is a sum *)
  last_sum : wide_plan; last_ending : ending;
  result_node : positive
}.

Definition words_of (u : wide_unit) (v : env) : words :=
  {| pairs := combine (map v (a_nodes u)) (map v (b_nodes u)); c_word := v (c_node u); scale_words := [] |}.

Section Unit.
Variables (w : wide_design) (u : wide_unit).
Let d := base w.

Definition bits_of (s : wide_sum) : Z := match term_bits s with Some f => f | None => 0 end.
Definition root_of : wide_sum * list wide_steps := match order w with
  | WideStep s l => (s, l)
  | _ => ({| term_bits := None; term_cut := TiesUp; c_term_bits := None; c_term_cut := TiesUp; second_bits := None; zeros_at := ZeroNone; leading := false;
             c_decides := true; room := None; minus_one := None; cut_sum := None; becomes := Stays 0 false |}, [])
  end.

Definition leaf_entry (t : wide_steps) : entry := match t with WideProduct k => nth k (products u) nobody | WideC => c_entry u | _ => nobody end.
Definition child_entry (x : wide_steps * option (wide_plan * entry)) : entry :=
  match snd x with Some (_, o) => o | None => leaf_entry (fst x) end.
Definition children : list (wide_steps * option (wide_plan * entry)) := combine (snd root_of) (inner_sums u).
Definition root_entries : list entry := map child_entry children.

Definition a_shown (i : positive) : shown := shown_flush (of_a (factors d)) (shown_word (a_format d) i).
Definition b_shown (i : positive) : shown := shown_flush (of_b (factors d)) (shown_word (b_format d) i).
Definition c_shown : shown := shown_flush (c_rule d) (shown_word (c_format d) (c_node u)).
Definition product_shown (x : positive * positive) : shown := shown_product (shown_taken (a_taken w) (a_shown (fst x))) (shown_taken (b_taken w) (b_shown (snd x))).
Definition product_gone (x : positive * positive) : formula :=
  Both (Equal (s_sig (product_shown x)) (Num_ 0)) (Equal (Times (s_sig (a_shown (fst x))) (s_sig (b_shown (snd x)))) (Num_ 0)).
Definition word_pairs : list ((positive * positive) * entry) := combine (combine (a_nodes u) (b_nodes u)) (products u).

Definition root_round (m : widths) : to_round :=
  let s := fst root_of in
  let n := Sg (counted_node (last_sum u)) in
  ToRound [] (Abs n) (Equal n (Num_ 0)) (Less n (Num_ 0)) (Plus (U (e_top (last_sum u))) (Num_ (e_low (last_sum u) - finest s (bits_of s))))
    (sum_bound s (last_sum u)) (known_sum s (last_sum u)) Never.
Definition root_conversion : conversion := match becomes (fst root_of) with
  | Rounds (Floating c) => c
  | _ => {| rho := RZ; p := 0; emin := 0; emax := 0; overflow := Largest; flushes := false; tiny := false; zsign := Positive |} end.

Definition inner_claims (m : widths) (x : wide_steps * option (wide_plan * entry)) : list claim :=
  match x with
  | (WideStep s l, Some (q, o)) =>
      summed_claims m s (bits_of s) (map leaf_entry l) q ++
      match becomes s with Stays least below => staying_claims s (map leaf_entry l) q least below o | _ => [] end
  | _ => []
  end.

Definition wide_claims (m : widths) : list claim :=
  flat_map (fun x => shown_claims (product_shown (fst x)) (product_gone (fst x)) (snd x)) word_pairs ++
  shown_claims c_shown (Equal (s_sig c_shown) (Num_ 0)) (c_entry u) ++
  flat_map (inner_claims m) children ++
  (let s := fst root_of in summed_claims m s (bits_of s) root_entries (last_sum u)) ++
  kept_claims root_conversion (last_ending u) (root_round m) ++ outcome_claims root_conversion (last_ending u) (root_round m) ++
  word_claims (d_format d) (Num_ (nan_word d)) (outcome (last_ending u)) (usual root_conversion (last_ending u) (root_round m)) (result_node u).

Definition plain_word (f : format) (r : flush_rule) : bool := match special f with NoSpecials => true | _ => false end && format_ok f && rule_ok r.
Definition node_fine (m : widths) (f : format) (i : positive) : bool := in_circuit m i && (width_in m i <=? word_width f).
Definition leaf_fine (t : wide_steps) : bool := match t with WideProduct k => (k <? length (products u))%nat | WideC => from_c (c_entry u) | _ => false end.
Definition child_fine (m : widths) (x : wide_steps * option (wide_plan * entry)) : bool :=
  match x with
  | (WideStep s l, Some (q, o)) =>
      forallb leaf_fine l && summed_ok m s (bits_of s) (map leaf_entry l) q && staying_ok s (bits_of s) o &&
      match becomes s with Stays _ _ => true | _ => false end
  | (t, None) => leaf_fine t
  | _ => false
  end.
Definition frac_fine (y : shown) (o : entry) : bool := bits_below (its_number o) =? s_frac y.

Definition wide_fine (ct : circuit) : bool :=
  let m := widths_of ct in
  circuit_ok ct &&
  match operand_rounding w, converted d, Design.scales d with None, None, None => true | _, _, _ => false end &&
  (exponent_step (factors d) =? 1) && match cutting_of d with Whole => true | _ => false end && negb (skips d) &&
  negb (normalise_factors (factors d)) && match zero_terms (factors d), product_limit (factors d), product_rounding (factors d) with None, None, None => true | _, _, _ => false end &&
  negb (odd_negated (factors d)) && negb (even_negated (factors d)) &&
  plain_word (a_format d) (of_a (factors d)) && plain_word (b_format d) (of_b (factors d)) && plain_word (c_format d) (c_rule d) &&
  forallb (node_fine m (a_format d)) (a_nodes u) && forallb (node_fine m (b_format d)) (b_nodes u) && node_fine m (c_format d) (c_node u) &&
  (length (a_nodes u) =? length (products u))%nat && (length (b_nodes u) =? length (products u))%nat &&
  (0 <? length (products u))%nat && (length (products u) <=? block d)%nat &&
  forallb (fun x => frac_fine (product_shown (fst x)) (snd x) && negb (from_c (snd x))) word_pairs && frac_fine c_shown (c_entry u) &&
  match order w with WideStep _ _ => true | _ => false end && (length (snd root_of) =? length (inner_sums u))%nat && forallb (child_fine m) children &&
  (let s := fst root_of in summed_ok m s (bits_of s) root_entries (last_sum u) && match becomes s with Rounds (Floating _) => true | _ => false end) &&
  rounding_fine m root_conversion (last_ending u) && forallb (in_circuit m) (ending_nodes (last_ending u)) &&
  (bits_below (outcome (last_ending u)) <=? fbits (d_format d)).
End Unit.

Section UnitSound.
Variables (ct : circuit) (w : wide_design) (u : wide_unit) (v : env).
Let m := widths_of ct.
Let d := base w.
Hypothesis OK : wide_fine w u ct = true.
Hypothesis CL : Forall (holds ct) (wide_claims w u m).
Hypothesis SOL : solution ct v.

Record fine : Prop := {
  i_circuit : circuit_ok ct = true;
  i_operands : operand_rounding w = None /\ converted d = None /\ Design.scales d = None;
  i_design : exponent_step (factors d) = 1 /\ cutting_of d = Whole /\ skips d = false /\ normalise_factors (factors d) = false;
  i_factors : zero_terms (factors d) = None /\ product_limit (factors d) = None /\ product_rounding (factors d) = None /\ odd_negated (factors d) = false /\ even_negated (factors d) = false;
  i_a : plain_word (a_format d) (of_a (factors d)) = true /\ forall i, In i (a_nodes u) -> node_fine m (a_format d) i = true;
  i_b : plain_word (b_format d) (of_b (factors d)) = true /\ forall i, In i (b_nodes u) -> node_fine m (b_format d) i = true;
  i_c : plain_word (c_format d) (c_rule d) = true /\ node_fine m (c_format d) (c_node u) = true;
  i_lengths : length (a_nodes u) = length (products u) /\ length (b_nodes u) = length (products u) /\ (0 < length (products u) <= block d)%nat;
  i_fracs : (forall x, In x (word_pairs u) -> bits_below (its_number (snd x)) = s_frac (product_shown w (fst x)) /\ from_c (snd x) = false) /\ bits_below (its_number (c_entry u)) = s_frac (c_shown w u);
  i_root : order w = WideStep (fst (root_of w)) (snd (root_of w)) /\ length (snd (root_of w)) = length (inner_sums u);
  i_children : forall x, In x (children w u) -> child_fine u m x = true;
  i_sum : summed_ok m (fst (root_of w)) (bits_of (fst (root_of w))) (root_entries w u) (last_sum u) = true /\ becomes (fst (root_of w)) = Rounds (Floating (root_conversion w));
  i_end : rounding_fine m (root_conversion w) (last_ending u) = true /\ (forall i, In i (ending_nodes (last_ending u)) -> fits m v i) /\ bits_below (outcome (last_ending u)) <= fbits (d_format d)
}.

Lemma fine_is : fine.
Proof.
  pose proof OK as O. unfold wide_fine in O. cbv zeta in O. fold m d in O. rewrite !andb_true_iff in O.
  repeat match goal with H : _ /\ _ |- _ => destruct H end.
  repeat match goal with
    | H : negb _ = true |- _ => apply negb_true_iff in H
    | H : (_ =? _)%nat = true |- _ => apply Nat.eqb_eq in H
    | H : (_ <? _)%nat = true |- _ => apply Nat.ltb_lt in H
    | H : (_ <=? _)%nat = true |- _ => apply Nat.leb_le in H
    | H : (_ =? _) = true |- _ => apply Z.eqb_eq in H
    | H : (_ <=? _) = true |- _ => apply Z.leb_le in H
    | H : forallb _ _ = true |- _ => rewrite forallb_forall in H
  end.
  constructor; auto.
  - destruct (operand_rounding w), (converted d), (Design.scales d); easy.
  - destruct (cutting_of d); try easy; auto.
  - destruct (zero_terms (factors d)), (product_limit (factors d)), (product_rounding (factors d)); easy.
  - split; [|match goal with H : frac_fine (c_shown w u) _ = true |- _ => now apply Z.eqb_eq in H end].
    intros x I. match goal with H : context [word_pairs u] |- _ => specialize (H x I); apply andb_prop in H; destruct H as [Y1 Y2] end.
    unfold frac_fine in Y1. apply Z.eqb_eq in Y1. apply negb_true_iff in Y2. auto.
  - split; auto. unfold root_of. destruct (order w); easy.
  - split; auto. unfold root_conversion. destruct (becomes (fst (root_of w))) as [[c|]|]; easy.
  - split; auto. split; auto. intros i I. apply (in_map_fits ct v SOL); auto.
Qed.

Lemma word_in f i : node_fine m f i = true -> 0 <= v i < 2 ^ word_width f.
Proof.
  unfold node_fine. rewrite andb_true_iff, Z.leb_le. intros [I L]. destruct (in_map_fits ct v SOL (i_circuit fine_is) i I) as [A B]. fold m in B. split; auto.
  eapply Z.lt_le_trans; [exact B|]. apply Z.pow_le_mono_r; lia.
Qed.

Lemma plain_parts f r : plain_word f r = true -> special f = NoSpecials /\ format_ok f = true /\ rule_ok r = true.
Proof. unfold plain_word. rewrite !andb_true_iff. intros [[A B] C]. split; [destruct (special f); easy|auto]. Qed.

Lemma factor_is f r i : plain_word f r = true -> node_fine m f i = true ->
  wide_factor w r (Design.operand d f (v i)) = Num (shown_num m v (shown_flush r (shown_word f i))).
Proof.
  intros P N. destruct (plain_parts f r P) as [A [B C]]. destruct fine_is as [_ [O1 [O2 _]] [D1 [_ [_ D2]]] _ _ _ _ _ _ _ _ _ _].
  unfold wide_factor, Design.operand. fold d. rewrite O1, O2, D1, D2. cbn [Z.eqb Pos.eqb].
  rewrite (flushed_word m v f r i A B C (word_in f i N)). reflexivity.
Qed.

Lemma product_stands x k : In x (word_pairs u) ->
  stands v (wide_product w {| index := k; a_word := v (fst (fst x)); b_word := v (snd (fst x)); scaled_by := [] |} [], false) (snd x).
Proof.
  intros I. destruct x as [[i j] o]. destruct fine_is as [_ _ [D1 _] [F1 [F2 [F3 [F4 F5]]]] [A1 A2] [B1 B2] _ _ [FR _] _ _ _ _]. destruct (FR _ I) as [BB FC]. cbn [fst snd] in *.
  assert (IN : In i (a_nodes u) /\ In j (b_nodes u)). { apply in_combine_l in I. split; [exact (in_combine_l _ _ _ _ I)|exact (in_combine_r _ _ _ _ I)]. }
  assert (CS : Forall (holds ct) (shown_claims (product_shown w (i, j)) (product_gone w (i, j)) o)).
  { unfold wide_claims in CL. rewrite Forall_app in CL. destruct CL as [C1 _]. apply Forall_forall. intros c J. rewrite Forall_forall in C1. apply C1. apply in_flat_map. exists ((i, j), o). auto. }
  destruct (shown_is ct _ _ o v CS SOL BB) as [NU [GO SP]]. fold m in NU, GO.
  unfold wide_product. cbn [a_word b_word index]. fold d. rewrite (factor_is _ _ i A1 (A2 i (proj1 IN))), (factor_is _ _ j B1 (B2 j (proj2 IN))).
  change (shown_flush (of_a (factors d)) (shown_word (a_format d) i)) with (a_shown w i). change (shown_flush (of_b (factors d)) (shown_word (b_format d) j)) with (b_shown w j).
  rewrite !taken_shown. set (X := shown_taken (a_taken w) (a_shown w i)). set (Y := shown_taken (b_taken w) (b_shown w j)).
  assert (SPR : forall a b, scaled_product (factors d) (Num a) (Num b) k [] = Num (times a b)).
  { intros a b. unfold scaled_product, subtracted. rewrite F1, F2, F3, F4, F5. cbn [product zero_as fold_left]. destruct (Z.odd k); reflexivity. }
  rewrite !SPR, F3.
  assert (TE : times (shown_num m v X) (shown_num m v Y) = shown_num m v (product_shown w (i, j))).
  { unfold product_shown. cbn [fst snd]. fold X Y. unfold times, shown_num, shown_product; cbn [neg sig exp frac s_neg s_sig s_exp s_frac value]. now rewrite truth_differ. }
  rewrite TE. constructor; cbn [fst snd Wide.its alive]; auto.
  - now rewrite NU.
  - rewrite GO, NU. unfold product_gone. cbn [truth fst snd andb].
    unfold nought, is_zero, times; cbn [sig shown_num value].
    destruct (value m v (s_sig (product_shown w (i, j))) =? 0); cbn [andb negb]; auto.
    now destruct (value m v (s_sig (a_shown w i)) * value m v (s_sig (b_shown w j)) =? 0).
Qed.

Let els := elements d (words_of u v).
Let ps := wide_terms w els.
Let cv := flush (c_rule d) (decode (c_format d) (v (c_node u))).

Lemma els_are : els = map (fun kx => {| index := Z.of_nat (fst kx); a_word := fst (snd kx); b_word := snd (snd kx); scaled_by := [] |}) (numbered 0 (pairs (words_of u v))).
Proof.
  unfold els, elements. destruct fine_is as [_ [_ [_ SC]] _ _ _ _ _ _ _ _ _ _ _]. rewrite SC. apply map_ext. intros [k [a b]]. reflexivity.
Qed.

Lemma els_length : length els = length (products u).
Proof.
  destruct fine_is as [_ _ _ _ _ _ _ [L1 [L2 _]] _ _ _ _ _]. rewrite els_are, map_length. rewrite <- (map_length snd (numbered 0 _)), numbered_snd.
  unfold words_of; cbn [pairs]. rewrite combine_length, !map_length. lia.
Qed.

Lemma products_stand : Forall2 (fun t o => stands v (t, false) o) ps (products u).
Proof.
  destruct fine_is as [_ _ [_ [CW _]] _ _ _ _ [L1 [L2 _]] _ _ _ _ _]. unfold ps, wide_terms. fold d. rewrite CW, els_are, map_map. cbn [scaled_by].
  assert (G : forall i a b os, (forall x, In x (combine (combine a b) os) -> In x (word_pairs u)) -> length a = length os -> length b = length os ->
    Forall2 (fun t o => stands v (t, false) o)
      (map (fun kx : nat * (Z * Z) => wide_product w {| index := Z.of_nat (fst kx); a_word := fst (snd kx); b_word := snd (snd kx); scaled_by := [] |} []) (numbered i (combine (map v a) (map v b)))) os).
  { intros i a. revert i. induction a as [|x a IH]; intros i b os H A B; destruct os as [|o os]; try easy; [constructor|]. destruct b as [|y b]; [easy|].
    cbn [map combine numbered]. constructor.
    - exact (product_stands ((x, y), o) (Z.of_nat i) (H _ (or_introl eq_refl))).
    - apply IH; [|simpl in A; lia|simpl in B; lia]. intros z I. apply H. now right. }
  unfold words_of; cbn [pairs]. apply G; auto.
Qed.

Lemma c_stands : from_c (c_entry u) = true -> stands v (plain (Num (num_of cv)), true) (c_entry u) /\ cv = Num (num_of cv).
Proof.
  intros FC. destruct fine_is as [_ _ _ _ _ _ [P1 P2] _ [_ BB] _ _ _ _]. destruct (plain_parts _ _ P1) as [A [B C]].
  assert (CS : Forall (holds ct) (shown_claims (c_shown w u) (Equal (s_sig (c_shown w u)) (Num_ 0)) (c_entry u))).
  { unfold wide_claims in CL. rewrite !Forall_app in CL. tauto. }
  destruct (shown_is ct _ _ _ v CS SOL BB) as [NU [GO SP]]. fold m in NU, GO.
  assert (CE : cv = Num (shown_num m v (c_shown w u))) by (unfold cv; rewrite (flushed_word m v _ _ _ A B C (word_in _ _ P2)); reflexivity).
  rewrite CE. cbn [num_of]. split; auto. constructor; cbn [fst snd Wide.its alive plain]; auto.
  - now rewrite NU.
  - rewrite GO, NU. cbn [negb]. rewrite andb_true_r. reflexivity.
Qed.

(** What a child of a sum is to it. *)
Definition given_to (t : wide_steps) : Wide.term * bool :=
  let y := eval_wide (c_rule d) ps cv t in
  match t with
  | WideStep i _ => (if stays i then y else plain (flush (c_rule d) (Wide.its y)), false)
  | WideZero => (plain (zero_in (fst (root_of w))), false)
  | WideC => (y, true)
  | WideProduct _ => (y, false)
  end.

Lemma leaf_stands t : leaf_fine u t = true -> stands v (given_to t) (leaf_entry u t).
Proof.
  destruct t as [k| | |s l]; cbn [leaf_fine]; try easy; intros H.
  - apply Nat.ltb_lt in H. unfold given_to, leaf_entry. cbn [eval_wide]. pose proof products_stand as PS. revert H.
    assert (G : forall k a b, Forall2 (fun t o => stands v (t, false) o) a b -> (k < length b)%nat -> stands v (nth k a (plain NaN), false) (nth k b nobody)).
    { clear. intros k a b F. revert k. induction F as [|x y a b P F IH]; intros k L; [simpl in L; lia|]. destruct k as [|k]; [exact P|]. cbn [nth]. apply IH. simpl in L. lia. }
    now apply G.
  - destruct (c_stands H) as [A B]. unfold given_to, leaf_entry. cbn [eval_wide]. rewrite B. exact A.
Qed.

Lemma sum_numbers_are s ts os : Forall2 (stands v) ts os -> add_wide s ts =
  Wide.ended s (map (fun x : Wide.term * bool => {| Wide.number := num_of (Wide.its (fst x)); counts_at_zero := alive (fst x); is_c := snd x |}) ts).
Proof.
  intros F. unfold add_wide. replace (forallb is_num (map (fun x : Wide.term * bool => Wide.its (fst x)) ts)) with true; [reflexivity|].
  symmetry. rewrite forallb_forall. intros y I. apply in_map_iff in I. destruct I as [x [<- I]]. destruct (forall2_left _ _ _ F x I) as [o [_ [V _ _ _]]]. now rewrite V.
Qed.

Lemma given_list s l : (forall t, In t l -> match t with WideZero => False | _ => True end) ->
  eval_wide (c_rule d) ps cv (WideStep s l) = add_wide s (map given_to l).
Proof.
  intros H. cbn [eval_wide]. f_equal. apply map_ext_in. intros t I. specialize (H t I). destruct t; try reflexivity. easy.
Qed.

Lemma child_stands x : In x (children w u) -> stands v (given_to (fst x)) (child_entry u x).
Proof.
  intros I. destruct fine_is as [CI _ _ _ _ _ _ _ _ _ CF _ _]. specialize (CF x I). destruct x as [t [[q o]|]]; cbn [fst child_entry snd].
  2: { destruct t; try easy; now apply leaf_stands. }
  destruct t as [k| | |s l]; try easy. cbn [child_fine] in CF. rewrite !andb_true_iff in CF. destruct CF as [[[LF SF] ST] BE].
  rewrite forallb_forall in LF.
  assert (CC : Forall (holds ct) (inner_claims u m (WideStep s l, Some (q, o)))).
  { unfold wide_claims in CL. rewrite !Forall_app in CL. destruct CL as [_ [_ [C3 _]]]. apply Forall_forall. intros c J. rewrite Forall_forall in C3. apply C3. apply in_flat_map. eauto. }
  cbn [inner_claims] in CC. rewrite Forall_app in CC. destruct CC as [CS CE]. destruct (becomes s) as [r|least below] eqn:BS; [easy|].
  assert (F : Forall2 (stands v) (map given_to l) (map (leaf_entry u) l)).
  { apply forall2_map. intros t J. apply leaf_stands. now apply LF. }
  unfold given_to. unfold stays. rewrite BS. rewrite given_list by (intros t J; specialize (LF t J); destruct t; easy).
  rewrite (sum_numbers_are _ _ _ F). exact (stays_stands ct s _ _ q v _ least below o CI SOL SF CS F ST CE BS).
Qed.

Theorem wide_unit_sound : v (result_node u) = compute_wide w (words_of u v).
Proof.
  destruct fine_is as [CI _ [_ [_ [SK _]]] _ _ _ _ [_ [_ LB]] _ [RT LI] CF [SF BE] [RF [EN BW]]].
  set (s := fst (root_of w)) in *. set (l := snd (root_of w)) in *.
  assert (ONE : compute_wide w (words_of u v) = encode (d_format d) (nan_word d) (Wide.its (eval_wide (c_rule d) ps cv (order w)))).
  { unfold compute_wide. fold d els. assert (CL1 : cut_list (length els) (block d) els = [els]).
    { pose proof els_length as EL. destruct els as [|y k] eqn:E; [simpl in EL; lia|]. cbn [length cut_list]. simpl in EL.
      rewrite firstn_all2 by (simpl; lia). rewrite skipn_all2 by (simpl; lia). now destruct (length k). }
    rewrite CL1. cbn [fold_left]. unfold wide_block. fold d. rewrite SK. reflexivity. }
  assert (F : Forall2 (stands v) (map given_to l) (root_entries w u)).
  { unfold root_entries. replace l with (map fst (children w u)).
    - rewrite map_map. apply forall2_map. exact child_stands.
    - unfold children. fold l. clear -LI. revert LI. generalize (inner_sums u). induction l as [|t k IH]; intros r L; destruct r; try easy. cbn [combine map fst]. f_equal. apply IH. simpl in L. lia. }
  assert (NZ : forall t, In t l -> match t with WideZero => False | _ => True end).
  { intros t J. assert (X : exists p, In (t, p) (children w u)).
    { unfold children. fold l. clear -LI J. revert LI. generalize (inner_sums u). induction l as [|z k IH]; intros r L; [easy|]. destruct r as [|p r]; [easy|]. destruct J as [<-|J]; [exists p; now left|].
      destruct (IH J r ltac:(simpl in L; lia)) as [p' I]. exists p'. now right. }
    destruct X as [p X]. specialize (CF _ X). destruct t; auto. destruct p; easy. }
  rewrite ONE, RT. fold s l. rewrite (given_list s l NZ), (sum_numbers_are _ _ _ F).
  set (ad := map (fun x : Wide.term * bool => {| Wide.number := num_of (Wide.its (fst x)); counts_at_zero := alive (fst x); is_c := snd x |}) (map given_to l)).
  assert (PC : Forall (holds ct) (summed_claims m s (bits_of s) (root_entries w u) (last_sum u)) /\
    Forall (holds ct) (kept_claims (root_conversion w) (last_ending u) (root_round w u m)) /\ Forall (holds ct) (outcome_claims (root_conversion w) (last_ending u) (root_round w u m)) /\
    Forall (holds ct) (word_claims (d_format d) (Num_ (nan_word d)) (outcome (last_ending u)) (usual (root_conversion w) (last_ending u) (root_round w u m)) (result_node u))).
  { unfold wide_claims in CL. cbv zeta in CL. fold s d in CL. rewrite !Forall_app in CL. tauto. }
  destruct PC as [C1 [C2 [C3 C4]]].
  set (q := last_sum u) in *. set (n := sg (width_in m (counted_node q)) (v (counted_node q))). set (top := v (e_top q) + e_low q).
  pose proof (bound_is ct s _ _ q v _ CI SOL SF C1 F) as BI. fold m n in BI.
  assert (CT : Finish.counted ct (root_round w u m) v n (top - finest s (bits_of s))).
  { constructor; cbn [root_round size no_size Finish.down Finish.unit value truth]; fold q s; try reflexivity. unfold top. fold s. lia. }
  assert (BN : Z.abs n <= bound (root_round w u m)) by (cbn [root_round bound]; fold s q; lia).
  assert (KN : forallb (truth (widths_of ct) v) (known (root_round w u m)) = true).
  { cbn [root_round known]. fold s q. exact (known_holds ct s _ _ q v _ CI SOL SF C1 F). }
  pose proof (rounded_is ct _ _ (root_round w u m) v n _ RF C2 C3 SOL EN CT BN KN eq_refl) as RI.
  pose proof (usual_fact ct _ _ (root_round w u m) v n _ RF C2 SOL EN CT BN KN eq_refl) as UF.
  rewrite (word_sound ct (d_format d) (Num_ (nan_word d)) (nan_word d) (outcome (last_ending u)) _ (result_node u) v (fun _ => eq_refl) BW C4 SOL (fun _ _ => UF)).
  unfold Wide.ended. rewrite BE. destruct (summed_is ct s _ _ q v _ CI SOL SF C1 F) as [ns [e [[E _]|[E [N0 _]]]]]; fold ad in E; rewrite E; cbn [plain Wide.its round_to]; symmetry.
  - apply Unit.encode_same. apply RI.
  - apply Unit.encode_same. pose proof N0 as N1. fold m n in N1. rewrite N1 in RI. rewrite N0. rewrite (convert_zero _ _ 0 (top - finest s (bits_of s))). apply RI.
Qed.
End UnitSound.

(** A unit computes what its design does, for all words. *)
Theorem wide_words_to_words ct w u : wide_fine w u ct = true -> Forall (holds ct) (wide_claims w u (widths_of ct)) ->
  forall v, solution ct v -> v (result_node u) = compute_wide w (words_of u v).
Proof. intros. eapply wide_unit_sound; eauto. Qed.

(** The same with the claims as they were certified. *)
Theorem certified_wide_words_to_words ct w u certified : wide_fine w u ct = true -> claims_eqb (wide_claims w u (widths_of ct)) certified = true ->
  Forall (holds ct) certified -> forall v, solution ct v -> v (result_node u) = compute_wide w (words_of u v).
Proof. intros OK E. rewrite <- (claims_are _ _ E). now apply wide_words_to_words. Qed.
